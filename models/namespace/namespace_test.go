package namespace_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/namespace"
)

const shop = "/api/v1/namespaces/shop"

type object map[string]any

// world is a cluster with the namespace shop.
func world(t *testing.T, a actor.Actor) *actortest.Cluster {
	t.Helper()
	c := actortest.New(a)
	must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": "shop"}})
	return c
}

func must(t *testing.T, c *actortest.Cluster, method, path string, in any) {
	t.Helper()
	var out object
	if code := c.Do(method, path, in, &out); code >= 300 {
		t.Fatalf("%s %s: %d %v", method, path, code, out["message"])
	}
}

func configMap(name string, finalizers ...string) object {
	return object{"metadata": object{"name": name, "finalizers": finalizers}}
}

func pod(name string, grace int, node string) object {
	return object{"metadata": object{"name": name}, "spec": object{
		"nodeName": node, "terminationGracePeriodSeconds": grace, "containers": []object{{"name": "c", "image": "i"}},
	}}
}

// deletions are the resources of the objects that have gone since then, in order.
func deletions(c *actortest.Cluster, from int) (out []string) {
	for _, ch := range c.Changes[from:] {
		if ch.Type == "DELETED" {
			out = append(out, ch.Resource)
		}
	}
	return out
}

func conditions(t *testing.T, c *actortest.Cluster) map[corev1.NamespaceConditionType]string {
	t.Helper()
	var n corev1.Namespace
	if c.Do(http.MethodGet, shop, nil, &n) != http.StatusOK {
		t.Fatal("the namespace is gone")
	}
	return told(n.Status)
}

// told are the conditions that are true, with reason and message.
func told(s corev1.NamespaceStatus) map[corev1.NamespaceConditionType]string {
	out := map[corev1.NamespaceConditionType]string{}
	for _, cond := range s.Conditions {
		if cond.Status == corev1.ConditionTrue {
			out[cond.Type] = cond.Reason + ": " + cond.Message
		}
	}
	return out
}

func exists(c *actortest.Cluster, path string) bool {
	return c.Do(http.MethodGet, path, nil, nil) == http.StatusOK
}

func TestAnEmptyNamespaceGoesAfterTheGracePeriod(t *testing.T) {
	c := world(t, namespace.New())
	c.Run(time.Hour)
	if p := c.Pending("namespace-controller"); len(p) != 0 {
		t.Fatalf("something is pending while nothing terminates: %v", p)
	}
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(5*time.Second - 1)
	if !exists(c, shop) {
		t.Fatal("the namespace went before its grace period was over")
	}
	before := len(c.Changes)
	c.Run(1)
	if exists(c, shop) {
		t.Fatal("the namespace is still there")
	}
	if after := c.Changes[before:]; len(after) != 2 || after[0].Type != "MODIFIED" || after[1].Type != "DELETED" {
		t.Fatalf("conditions, then the end, are expected; these are the changes: %v", after)
	}
	var n corev1.Namespace
	if err := json.Unmarshal(c.Changes[before].Object, &n); err != nil {
		t.Fatal(err)
	}
	if len(n.Status.Conditions) != 5 || len(told(n.Status)) != 0 {
		t.Fatalf("five conditions, none of them true, are expected: %v", n.Status.Conditions)
	}
	c.Run(0) // drops the pass that the conditions' event has asked for
	if p := c.Pending("namespace-controller"); len(p) != 0 {
		t.Fatalf("the namespace has gone, and this is pending: %v", p)
	}
}

func TestPodsGoFirst(t *testing.T) {
	for _, tt := range []struct {
		name string
		opts []namespace.Option
		want []string
	}{
		{"by default", nil, []string{"pods", "configmaps", "secrets", "serviceaccounts", "namespaces"}},
		{"unless any order will do", []namespace.Option{namespace.AnyOrder()},
			[]string{"configmaps", "pods", "secrets", "serviceaccounts", "namespaces"}},
		{"those whose order is given before the others",
			[]namespace.Option{namespace.AnyOrder(), namespace.InOrder("serviceaccounts", "secrets", "pods")},
			[]string{"serviceaccounts", "secrets", "pods", "configmaps", "namespaces"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := world(t, namespace.New(tt.opts...))
			for _, kind := range []string{"serviceaccounts", "secrets", "configmaps"} {
				must(t, c, http.MethodPost, shop+"/"+kind, configMap("a"))
			}
			must(t, c, http.MethodPost, shop+"/pods", pod("a", 30, ""))
			must(t, c, http.MethodDelete, shop, nil)
			from := len(c.Changes)
			c.Run(5 * time.Second)
			if got := deletions(c, from); !slices.Equal(got, tt.want) {
				t.Errorf("deleted %v, want %v", got, tt.want)
			}
		})
	}
}

func TestTheOrderOfTypesIsChosen(t *testing.T) {
	seen := map[string]bool{}
	for seed := range 6 {
		c := world(t, namespace.New())
		n := seed
		c.Choice = func(_ string, ways int) int { way := n % ways; n /= ways; return way }
		for _, kind := range []string{"serviceaccounts", "secrets", "configmaps"} {
			must(t, c, http.MethodPost, shop+"/"+kind, configMap("a"))
		}
		must(t, c, http.MethodDelete, shop, nil)
		from := len(c.Changes)
		c.Run(5 * time.Second)
		got := deletions(c, from)
		if len(got) != 4 || got[3] != "namespaces" {
			t.Fatalf("choices %d: deleted %v", seed, got)
		}
		seen[strings.Join(got, " ")] = true
	}
	if len(seen) != 6 {
		t.Errorf("six orders of three types were asked for; there were %d: %v", len(seen), seen)
	}
}

func TestFinalizersHoldANamespace(t *testing.T) {
	var at []time.Duration
	var c *actortest.Cluster
	watch := func(r *apiserver.Request) error {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps") {
			at = append(at, c.Now())
		}
		return nil
	}
	c = world(t, actortest.Between(namespace.New(), watch))
	must(t, c, http.MethodPost, shop+"/configmaps", configMap("a", "x.example/one"))
	must(t, c, http.MethodPost, shop+"/configmaps", configMap("b", "x.example/one", "x.example/two"))
	must(t, c, http.MethodPost, shop+"/secrets", configMap("a"))
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(30 * time.Second)

	// The first conditions bring the second pass after 5 s; from then on nothing changes and the
	// estimate rules.
	if want := []time.Duration{5 * time.Second, 10 * time.Second, 18 * time.Second, 26 * time.Second}; !slices.Equal(at,
		want) {
		t.Errorf("passes at %v, want %v", at, want)
	}
	want := map[corev1.NamespaceConditionType]string{
		corev1.NamespaceContentRemaining: "SomeResourcesRemain: Some resources are remaining: configmaps. has 2 " +
			"resource instances",
		corev1.NamespaceFinalizersRemaining: "SomeFinalizersRemain: Some content in the namespace has finalizers " +
			"remaining: " +
			"x.example/one in 2 resource instances, x.example/two in 1 resource instances",
	}
	if got := conditions(t, c); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("conditions are\n%v, want\n%v", got, want)
	}
	if p := c.Pending("namespace-controller"); len(p) != 1 {
		t.Errorf("one attempt should be pending, not %v", p)
	}
	quiet := len(c.Changes)
	c.Run(time.Minute)
	if len(c.Changes) != quiet {
		t.Errorf("attempts that find nothing new changed something: %v", c.Changes[quiet:])
	}

	for _, name := range []string{"a", "b"} {
		must(t, c, http.MethodPatch, shop+"/configmaps/"+name, object{"metadata": object{"finalizers": nil}})
	}
	c.Run(8 * time.Second)
	if exists(c, shop) {
		t.Error("nothing holds the namespace any more, and it is still there")
	}
}

func TestPodsThatTerminateGracefullyHoldTheRest(t *testing.T) {
	c := world(t, namespace.New())
	must(t, c, http.MethodPost, shop+"/pods", pod("short", 10, "n1"))
	must(t, c, http.MethodPost, shop+"/pods", pod("long", 40, "n1"))
	must(t, c, http.MethodPost, shop+"/configmaps", configMap("a"))
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(10 * time.Second) // passes at 5 s and, because of the conditions, at 10 s
	if !exists(c, shop+"/configmaps/a") {
		t.Error("a config map went while pods terminated")
	}
	if got := conditions(t, c); len(got) != 0 {
		t.Errorf("what is left is not told while pods are left, as upstream; told: %v", got)
	}
	if p := c.Pending("namespace-controller"); p["wait shop"] != 31*time.Second {
		t.Errorf("the next pass should come at 10+40/2+1 s; pending: %v", p)
	}
	c.Run(50 * time.Second) // the grace periods are over; no kubelet has removed the pods
	got := conditions(t, c)[corev1.NamespaceDeletionContentFailure]
	if want := "ContentDeletionFailed: Failed to delete all resource types, 1 remaining: unexpected items still " +
		"remain in namespace: " +
		"shop for gvr: /v1, Resource=pods"; got != want {
		t.Errorf("condition is %q, want %q", got, want)
	}
	for _, name := range []string{"short", "long"} {
		must(t, c, http.MethodDelete, shop+"/pods/"+name, object{"gracePeriodSeconds": 0})
	}
	c.Run(time.Minute)
	if exists(c, shop) {
		t.Error("the pods have gone, the namespace has not")
	}
}

func TestPodsThatHaveEndedAreNotWaitedFor(t *testing.T) {
	c := world(t, namespace.New())
	must(t, c, http.MethodPost, shop+"/pods", object{"metadata": object{"name": "a",
		"finalizers": []string{"x.example/one"}}, "spec": pod("a", 100, "n1")["spec"]})
	must(t, c, http.MethodPatch, shop+"/pods/a/status", object{"status": object{"phase": "Succeeded"}})
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(10 * time.Second)
	if p := c.Pending("namespace-controller"); p["wait shop"] != 18*time.Second {
		t.Errorf("only the finalizer should be waited for, until 18 s; pending: %v", p)
	}
}

func TestWhatCannotBeDeletedIsTriedAgain(t *testing.T) {
	var at []time.Duration
	var c *actortest.Cluster
	refuse := func(r *apiserver.Request) error {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps") {
			at = append(at, c.Now())
			return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", fmt.Errorf("not now"))
		}
		return nil
	}
	c = world(t, actortest.Between(namespace.New(), refuse))
	must(t, c, http.MethodPost, shop+"/configmaps", configMap("a"))
	must(t, c, http.MethodPost, shop+"/secrets", configMap("a"))
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(10 * time.Minute)
	if exists(c, shop+"/secrets/a") {
		t.Error("a type that can be deleted was not, because another could not")
	}
	got := conditions(t, c)[corev1.NamespaceDeletionContentFailure]
	if want := `ContentDeletionFailed: Failed to delete all resource types, 1 remaining: configmaps "a" is ` +
		`forbidden: not now`; got != want {
		t.Errorf("condition is %q, want %q", got, want)
	}
	if at[1]-at[0] != 5*time.Millisecond || at[2]-at[1] != 10*time.Millisecond {
		t.Errorf("attempts at %v: the first gaps should be 5 ms and 10 ms", at)
	}
	if gap := at[len(at)-1] - at[len(at)-2]; gap != time.Minute {
		t.Errorf("the gaps should grow to a minute; the last is %v", gap)
	}
}

func TestATypeWithoutCollectionDeletion(t *testing.T) {
	deleted := 0
	c := world(t, actortest.Between(namespace.New(), func(r *apiserver.Request) error {
		switch {
		case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps"):
			return apierrors.NewMethodNotSupported(schema.GroupResource{Resource: "configmaps"}, "deletecollection")
		case r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps/b"):
			return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"},
				"b") // as if another client had been faster
		case r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/configmaps/"):
			deleted++
		}
		return nil
	}))
	for _, name := range []string{"a", "b", "c"} {
		must(t, c, http.MethodPost, shop+"/configmaps", configMap(name))
	}
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(5 * time.Second)
	if deleted != 2 || !exists(c, shop+"/configmaps/b") {
		t.Errorf("a and c should have been deleted one by one; %d were", deleted)
	}
	if got := conditions(t, c)[corev1.NamespaceDeletionContentFailure]; !strings.Contains(got,
		"unexpected items still remain") {
		t.Errorf("b is left, nothing holds it, and the condition says %q", got)
	}
}

func TestFailingDiscoveryHoldsEveryNamespace(t *testing.T) {
	metrics := schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	c := world(t, namespace.New(namespace.Undiscovered(func(at time.Duration) []schema.GroupVersion {
		if at < time.Minute {
			return []schema.GroupVersion{metrics, apps}
		}
		return nil
	})))
	must(t, c, http.MethodPost, shop+"/configmaps", configMap("a"))
	must(t, c, http.MethodPost, "/apis/apps/v1/namespaces/shop/controllerrevisions",
		object{"metadata": object{"name": "a"}, "revision": 1, "data": object{}})
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(30 * time.Second)
	if exists(c, shop+"/configmaps/a") {
		t.Error("what can be found should go")
	}
	if !exists(c, "/apis/apps/v1/namespaces/shop/controllerrevisions/a") {
		t.Error("what cannot be found should stay")
	}
	got := conditions(t, c)[corev1.NamespaceDeletionDiscoveryFailure]
	if want := "DiscoveryFailed: Discovery failed for some groups, 2 failing: unable to retrieve the complete list " +
		"of server APIs: " +
		"apps/v1: stale GroupVersion discovery: apps/v1, metrics.k8s.io/v1beta1: stale GroupVersion discovery: " +
		"metrics.k8s.io/v1beta1"; got != want {
		t.Errorf("condition is %q, want %q", got, want)
	}
	c.Run(2 * time.Minute)
	if exists(c, shop) {
		t.Error("discovery is whole again, and the namespace is still there")
	}
}

func TestAnotherFinalizerOfTheNamespace(t *testing.T) {
	c := actortest.New(namespace.New())
	must(t, c, http.MethodPost, "/api/v1/namespaces",
		object{"metadata": object{"name": "shop"}, "spec": object{"finalizers": []string{"x.example/mine"}}})
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(time.Minute)
	var n corev1.Namespace
	c.Do(http.MethodGet, shop, nil, &n)
	if !slices.Equal(n.Spec.Finalizers, []corev1.FinalizerName{"x.example/mine"}) {
		t.Errorf("finalizers are %v; the controller should have taken off its own", n.Spec.Finalizers)
	}
	if p := c.Pending("namespace-controller"); len(p) != 0 {
		t.Errorf("the controller has done its part, and this is pending: %v", p)
	}
}

func TestANamespaceThatTerminatedBefore(t *testing.T) {
	late := actortest.Between(namespace.New(), func(*apiserver.Request) error { return nil })
	c := actortest.New()
	must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": "shop"}})
	must(t, c, http.MethodDelete, shop, nil)
	c.Add(late)
	c.Run(5 * time.Second)
	if exists(c, shop) {
		t.Error("a controller that starts late did not see that the namespace terminates")
	}
}

// renewed is a world in which another client, between the conditions and the end of the
// controller's pass, finalizes the namespace, creates one of the same name, and then does something
// more. The namespace is being deleted.
func renewed(t *testing.T, more func(*actortest.Cluster)) *actortest.Cluster {
	t.Helper()
	var c *actortest.Cluster
	done := false
	c = world(t, actortest.Between(namespace.New(), func(r *apiserver.Request) error {
		if !done && strings.HasSuffix(r.URL.Path, "/status") {
			done = true
			must(t, c, http.MethodPut, shop+"/finalize",
				object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "shop"}, "spec": object{}})
			must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": "shop"}})
			more(c)
		}
		return nil
	}))
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(time.Hour)
	if !done {
		t.Fatal("the controller wrote no conditions")
	}
	return c
}

func TestANamespaceOfTheSameName(t *testing.T) {
	c := renewed(t, func(c *actortest.Cluster) { must(t, c, http.MethodPost, shop+"/configmaps", configMap("a")) })
	var n corev1.Namespace
	if c.Do(http.MethodGet, shop, nil, &n); n.DeletionTimestamp != nil || len(n.Spec.Finalizers) != 1 ||
		len(n.Status.Conditions) != 0 {
		t.Errorf("the new namespace was touched: %+v", n)
	}
	if !exists(c, shop+"/configmaps/a") {
		t.Error("the new namespace lost its content")
	}
	if p := c.Pending("namespace-controller"); len(p) != 0 {
		t.Errorf("the new namespace does not terminate, and this is pending: %v", p)
	}
}

func TestTheContentOfANamespaceOfTheSameNameIsSeen(t *testing.T) {
	// The pass that found no secrets in the old namespace ends in the new one, which is deleted at
	// once and has some.
	c := renewed(t, func(c *actortest.Cluster) {
		must(t, c, http.MethodPost, shop+"/secrets", configMap("a"))
		must(t, c, http.MethodDelete, shop, nil)
	})
	if exists(c, shop) || exists(c, shop+"/secrets/a") || !slices.Contains(deletions(c, 0), "secrets") {
		t.Errorf("the new namespace is there: %v; its content is: %v", exists(c, shop), exists(c, shop+"/secrets/a"))
	}
}

func TestAWriteThatIsRefusedIsTriedAgain(t *testing.T) {
	for _, what := range []string{"/finalize", "/status"} {
		refused := 0
		c := world(t, actortest.Between(namespace.New(), func(r *apiserver.Request) error {
			if strings.HasSuffix(r.URL.Path, what) && refused < 3 {
				refused++
				return apierrors.NewConflict(schema.GroupResource{Resource: "namespaces"}, "shop",
					fmt.Errorf("another client was faster"))
			}
			return nil
		}))
		must(t, c, http.MethodDelete, shop, nil)
		c.Run(time.Minute)
		if refused == 0 || exists(c, shop) {
			t.Errorf("%s was refused %d times, and the namespace exists: %v", what, refused, exists(c, shop))
		}
	}
}

func TestTwoNamespacesAtOnce(t *testing.T) {
	c := world(t, namespace.New())
	must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": "held"}})
	must(t, c, http.MethodPost, "/api/v1/namespaces/held/configmaps", configMap("a", "x.example/one"))
	must(t, c, http.MethodDelete, "/api/v1/namespaces/held", nil)
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(5 * time.Second)
	if exists(c, shop) || !exists(c, "/api/v1/namespaces/held") {
		t.Error("a namespace that is held should not hold another")
	}
}

func TestASecondDeletion(t *testing.T) {
	for refuse, want := range map[bool]int{false: http.StatusOK, true: http.StatusConflict} {
		c := &actortest.Cluster{Server: apiserver.New(
			apiserver.Options{Now: func() time.Time { return time.Unix(0, 0) }, RefuseDeleteOfTerminating: refuse})}
		must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": "shop"}})
		must(t, c, http.MethodDelete, shop, nil)
		if got := c.Do(http.MethodDelete, shop, nil, nil); got != want {
			t.Errorf("refused %v: the second deletion is answered with %d, want %d", refuse, got, want)
		}
	}
}
