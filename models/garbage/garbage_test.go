package garbage_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/garbage"
)

type object map[string]any

func cluster(t *testing.T, a ...actor.Actor) *actortest.Cluster {
	t.Helper()
	c := actortest.New(a...)
	for _, n := range []string{"shop", "other"} {
		must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": n}})
	}
	return c
}

func must(t *testing.T, c *actortest.Cluster, method, path string, in any) metav1.ObjectMeta {
	t.Helper()
	var out struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Message  string            `json:"message"`
	}
	if code := c.Do(method, path, in, &out); code >= 300 {
		t.Fatalf("%s %s: %d %s", method, path, code, out.Message)
	}
	return out.Metadata
}

const (
	maps    = "/api/v1/namespaces/shop/configmaps"
	secrets = "/api/v1/namespaces/shop/secrets"
	roles   = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
)

// made creates an object and returns a reference to it.
func made(
	t *testing.T, c *actortest.Cluster, kind, collection, name string, owners ...metav1.OwnerReference,
) metav1.OwnerReference {
	t.Helper()
	m := must(t, c, http.MethodPost, collection, object{"metadata": object{"name": name, "ownerReferences": owners}})
	version := "v1"
	if strings.HasPrefix(collection, "/apis/") {
		version = strings.Join(strings.Split(collection, "/")[2:4], "/")
	}
	return metav1.OwnerReference{APIVersion: version, Kind: kind, Name: name, UID: m.UID}
}

func blocking(r metav1.OwnerReference) metav1.OwnerReference {
	r.BlockOwnerDeletion = new(true)
	return r
}

func remove(t *testing.T, c *actortest.Cluster, path string, policy metav1.DeletionPropagation) {
	t.Helper()
	must(t, c, http.MethodDelete, path, object{"propagationPolicy": policy})
}

// left are the names of the config maps and secrets of a namespace.
func left(c *actortest.Cluster, namespace string) (out []string) {
	for _, kind := range []string{"configmaps", "secrets"} {
		var list struct {
			Items []struct {
				Metadata metav1.ObjectMeta `json:"metadata"`
			} `json:"items"`
		}
		c.Do(http.MethodGet, "/api/v1/namespaces/"+namespace+"/"+kind, nil, &list)
		for _, i := range list.Items {
			out = append(out, i.Metadata.Name)
		}
	}
	return out
}

func expect(t *testing.T, c *actortest.Cluster, when string, want ...string) {
	t.Helper()
	if got := left(c, "shop"); !slices.Equal(got, want) {
		t.Errorf("%s: %v is left, want %v", when, got, want)
	}
}

func owners(t *testing.T, c *actortest.Cluster, path string) (out []string) {
	t.Helper()
	for _, r := range must(t, c, http.MethodGet, path, nil).OwnerReferences {
		out = append(out, r.Name)
	}
	return out
}

func pending(c *actortest.Cluster) map[string]time.Duration {
	return c.Pending("garbage-collector-controller")
}

func TestNothingIsDoneWhereNothingGoes(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "ConfigMap", maps, "child", root)
	must(t, c, http.MethodPatch, maps+"/child", object{"data": object{"k": "v"}})
	if p := pending(c); len(p) != 0 {
		t.Errorf("an owner that is there is no reason to act: %v", p)
	}
}

func TestBackground(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	child := made(t, c, "ConfigMap", maps, "child", root)
	made(t, c, "Secret", secrets, "grandchild", child)
	remove(t, c, maps+"/root", metav1.DeletePropagationBackground)
	expect(t, c, "the owner goes first", "child", "grandchild")
	c.Run(time.Second)
	expect(t, c, "then what it owned")
	if p := pending(c); len(p) != 0 {
		t.Errorf("all is done, and this is pending: %v", p)
	}
}

func TestForegroundWaitsForWhatBlocks(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "ConfigMap", maps, "loose", root)
	held := made(t, c, "Secret", secrets, "held", blocking(root))
	must(t, c, http.MethodPatch, secrets+"/held", object{"metadata": object{"finalizers": []string{"x.example/one"}}})
	made(t, c, "Secret", secrets, "inner", blocking(held))
	remove(t, c, maps+"/root", metav1.DeletePropagationForeground)
	c.Run(time.Minute)
	expect(t, c, "a finalizer holds a dependent that blocks", "root", "held")
	must(t, c, http.MethodPatch, secrets+"/held", object{"metadata": object{"finalizers": nil}})
	c.Run(time.Second)
	expect(t, c, "nothing blocks any more")
}

func TestForegroundDoesNotWaitForWhatDoesNotBlock(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "Secret", secrets, "held", root)
	must(t, c, http.MethodPatch, secrets+"/held", object{"metadata": object{"finalizers": []string{"x.example/one"}}})
	remove(t, c, maps+"/root", metav1.DeletePropagationForeground)
	c.Run(time.Second)
	expect(t, c, "the dependent does not block", "held")
}

func TestForegroundGoesOnWhenADependentStopsBlocking(t *testing.T) {
	for name, change := range map[string]any{
		"by letting go":   nil,
		"by not owning":   []metav1.OwnerReference{},
		"by not blocking": "false",
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, garbage.New())
			root := made(t, c, "ConfigMap", maps, "root")
			made(t, c, "Secret", secrets, "held", blocking(root))
			must(t, c, http.MethodPatch, secrets+"/held",
				object{"metadata": object{"finalizers": []string{"x.example/one"}}})
			remove(t, c, maps+"/root", metav1.DeletePropagationForeground)
			c.Run(time.Second)
			expect(t, c, "held", "root", "held")
			if change == "false" {
				change = []metav1.OwnerReference{root}
			}
			must(t, c, http.MethodPatch, secrets+"/held", object{"metadata": object{"ownerReferences": change}})
			c.Run(time.Second)
			expect(t, c, "released", "held")
		})
	}
}

func TestAnotherOwnerKeepsADependent(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground,
		metav1.DeletePropagationForeground} {
		c := cluster(t, garbage.New())
		a, b := made(t, c, "ConfigMap", maps, "a"), made(t, c, "ConfigMap", maps, "b")
		made(t, c, "Secret", secrets, "child", blocking(a), b)
		remove(t, c, maps+"/a", policy)
		c.Run(time.Second)
		expect(t, c, string(policy), "b", "child")
		if got := owners(t, c, secrets+"/child"); !slices.Equal(got, []string{"b"}) {
			t.Errorf("%s: the reference to the owner that has gone should be taken off; owners are %v", policy, got)
		}
	}
}

func TestOrphan(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	other := made(t, c, "ConfigMap", maps, "other")
	made(t, c, "Secret", secrets, "one", root)
	made(t, c, "Secret", secrets, "two", blocking(root), other)
	remove(t, c, maps+"/root", metav1.DeletePropagationOrphan)
	expect(t, c, "the finalizer holds the owner", "other", "root", "one", "two")
	c.Run(time.Second)
	expect(t, c, "only the owner goes", "other", "one", "two")
	if one, two := owners(t, c, secrets+"/one"), owners(t, c, secrets+"/two"); len(one) != 0 ||
		!slices.Equal(two, []string{"other"}) {
		t.Errorf("owners left are %v and %v", one, two)
	}
}

func TestTheOrderOfOrphansIsChosen(t *testing.T) {
	seen := map[string]bool{}
	for seed := range 6 {
		c := cluster(t, garbage.New())
		n := seed
		c.Choice = func(_ string, ways int) int { way := n % ways; n /= ways; return way }
		root := made(t, c, "ConfigMap", maps, "root")
		for _, name := range []string{"a", "b", "c"} {
			made(t, c, "Secret", secrets, name, root)
		}
		remove(t, c, maps+"/root", metav1.DeletePropagationOrphan)
		from := len(c.Changes)
		c.Run(time.Second)
		order := ""
		for _, ch := range c.Changes[from:] {
			order += ch.Name
		}
		seen[order] = true
	}
	if len(seen) != 6 {
		t.Errorf("six orders of three dependents were asked for; there were %d: %v", len(seen), seen)
	}
}

func TestADependentThatComesWhileOthersAreOrphaned(t *testing.T) {
	var c *actortest.Cluster
	var root metav1.OwnerReference
	done := false
	c = cluster(t, actortest.Between(garbage.New(), func(r *apiserver.Request) error {
		if r.Method == http.MethodPatch && !done {
			done = true
			made(t, c, "Secret", secrets, "late", root)
		}
		return nil
	}))
	root = made(t, c, "ConfigMap", maps, "root")
	made(t, c, "Secret", secrets, "early", root)
	remove(t, c, maps+"/root", metav1.DeletePropagationOrphan)
	c.Run(time.Second)
	expect(t, c, "late was not known when the work began, so it is not spared", "early")
}

func TestOrphaningThatFailsIsTriedAgain(t *testing.T) {
	for _, what := range []string{"/secrets/a", "/configmaps/root"} {
		var at []time.Duration
		var c *actortest.Cluster
		c = cluster(t, actortest.Between(garbage.New(), func(r *apiserver.Request) error {
			if strings.HasSuffix(r.URL.Path, what) && len(at) < 4 {
				at = append(at, c.Now())
				return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", fmt.Errorf("not now"))
			}
			return nil
		}))
		root := made(t, c, "ConfigMap", maps, "root")
		made(t, c, "Secret", secrets, "a", root)
		made(t, c, "Secret", secrets, "b", root)
		remove(t, c, maps+"/root", metav1.DeletePropagationOrphan)
		c.Run(time.Second)
		expect(t, c, what, "a", "b")
		if want := []time.Duration{0, 5 * time.Millisecond, 15 * time.Millisecond,
			35 * time.Millisecond}; !slices.Equal(at, want) {
			t.Errorf("%s: attempts at %v, want %v", what, at, want)
		}
	}
}

func TestAnOwnerThatIsAbsent(t *testing.T) {
	for name, wrong := range map[string]func(*metav1.OwnerReference){
		"by uid":  func(r *metav1.OwnerReference) { r.UID = "11111111-1111-1111-1111-111111111111" },
		"by name": func(r *metav1.OwnerReference) { r.Name = "nobody" },
		"by kind": func(r *metav1.OwnerReference) { r.Kind = "Secret" },
	} {
		t.Run(name, func(t *testing.T) {
			c := cluster(t, garbage.New())
			root := made(t, c, "ConfigMap", maps, "root")
			wrong(&root)
			made(t, c, "Secret", secrets, "child", root)
			c.Run(time.Second)
			expect(t, c, name, "root")
		})
	}
}

// A program creates a dependent of an owner that is gone each time the collector has deleted it.
func TestARepeatedDeletionIsDelayed(t *testing.T) {
	c := cluster(t, garbage.New())
	owner := made(t, c, "ConfigMap", maps, "a")
	must(t, c, http.MethodDelete, maps+"/a", nil)
	rounds := 0
	create := func() { made(t, c, "Secret", secrets, "a", owner); rounds++ }
	c.Watch = func() {
		if c.Do(http.MethodGet, secrets+"/a", nil, nil) == http.StatusNotFound {
			create()
		}
	}
	create()
	c.Run(time.Minute)
	if rounds < 10 || rounds > 25 {
		t.Errorf("%d rounds in a minute; expected the time between them to double", rounds)
	}
	c.Watch = nil
	c.Run(time.Minute)
	create()
	before := c.Now()
	c.Run(time.Millisecond)
	if c.Do(http.MethodGet, secrets+"/a", nil, nil) != http.StatusNotFound {
		t.Errorf("not collected at once after a pause, %v later", c.Now()-before)
	}
}

func TestAnOwnerOfTheSameNameIsAnother(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "Secret", secrets, "child", root)
	remove(t, c, maps+"/root", metav1.DeletePropagationBackground)
	made(t, c, "ConfigMap", maps, "root")
	c.Run(time.Second)
	expect(t, c, "owners go by uid", "root")
}

func TestAnOwnerInAnotherNamespace(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", "/api/v1/namespaces/other/configmaps", "root")
	made(t, c, "Secret", secrets, "child", root)
	c.Run(time.Second)
	expect(t, c, "an owner elsewhere is no owner")
	var events corev1.EventList
	c.Do(http.MethodGet, "/api/v1/namespaces/shop/events", nil, &events)
	if len(events.Items) != 1 || events.Items[0].Reason != "OwnerRefInvalidNamespace" ||
		!strings.Contains(events.Items[0].Message,
			`name: root, uid: `+string(root.UID)+`] does not exist in namespace "shop"`) {
		t.Errorf("events are %+v", events.Items)
	}
}

func TestOneOwnerInAnotherNamespaceIsReported(t *testing.T) {
	c := cluster(t, garbage.New())
	first := made(t, c, "ConfigMap", "/api/v1/namespaces/other/configmaps", "first")
	second := made(t, c, "ConfigMap", "/api/v1/namespaces/other/configmaps", "second")
	made(t, c, "Secret", secrets, "child", first, second)
	c.Run(time.Second)
	var events corev1.EventList
	c.Do(http.MethodGet, "/api/v1/namespaces/shop/events", nil, &events)
	if len(events.Items) != 1 || !strings.Contains(events.Items[0].Message, "name: first,") {
		t.Errorf("events are %+v", events.Items)
	}
}

func TestAnOwnerWithANamespaceOfSomethingWithout(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "ClusterRole", roles, "real", root)
	root.UID, root.Name = "11111111-1111-1111-1111-111111111111", "nobody"
	made(t, c, "ClusterRole", roles, "absent", root)
	c.Run(time.Hour)
	for _, name := range []string{"real", "absent"} {
		if c.Do(http.MethodGet, roles+"/"+name, nil, nil) != http.StatusOK {
			t.Errorf("%s should be left alone", name)
		}
	}
	if p := pending(c); len(p) != 0 {
		t.Errorf("this will never be right, and is pending: %v", p)
	}
	var events corev1.EventList
	c.Do(http.MethodGet, "/api/v1/namespaces/default/events", nil, &events)
	if len(events.Items) != 1 {
		t.Errorf("one event, about the owner that is there, is expected: %+v", events.Items)
	}
}

func TestAnOwnerWithoutNamespace(t *testing.T) {
	c := cluster(t, garbage.New())
	role := made(t, c, "ClusterRole", roles, "role")
	made(t, c, "Secret", secrets, "child", role)
	c.Run(time.Second)
	expect(t, c, "the owner is there", "child")
	remove(t, c, roles+"/role", metav1.DeletePropagationBackground)
	c.Run(time.Second)
	expect(t, c, "the owner has gone")
}

func TestAnOwnerOfATypeThatIsNotServed(t *testing.T) {
	c := cluster(t, garbage.New())
	made(t, c, "Secret", secrets, "child",
		metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "1"})
	c.Run(time.Hour)
	expect(t, c, "it may be served one day", "child")
	p := pending(c)
	if len(p) != 1 {
		t.Fatalf("an attempt should be pending: %v", p)
	}
	must(t, c, http.MethodPost, definitions, widgets())
	c.Run(1000 * time.Second)
	expect(t, c, "it is served, and there is no such owner")
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

func widgets() object {
	return object{"metadata": object{"name": "widgets.example.com"}, "spec": object{
		"group": "example.com", "scope": "Namespaced",
		"names": object{"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
		"versions": []object{{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{
			"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}},
	}}
}

const widgetPath = "/apis/example.com/v1/namespaces/shop/widgets"

func madeWidget(
	t *testing.T, c *actortest.Cluster, name string, owners ...metav1.OwnerReference,
) metav1.OwnerReference {
	t.Helper()
	m := must(t, c, http.MethodPost, widgetPath, object{"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": object{"name": name, "ownerReferences": owners}})
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: name, UID: m.UID}
}

func TestAnOwnerAtAVersionThatIsNotServed(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ClusterRole", roles, "root")
	root.APIVersion = "rbac.authorization.k8s.io/v1beta1"
	made(t, c, "Secret", secrets, "child", root)
	remove(t, c, roles+"/root", metav1.DeletePropagationBackground)
	c.Run(time.Minute)
	expect(t, c, "it is not known whether the owner has gone", "child")
}

func TestCustomResources(t *testing.T) {
	c := cluster(t, garbage.New())
	must(t, c, http.MethodPost, definitions, widgets())
	root := madeWidget(t, c, "root")
	inner := madeWidget(t, c, "inner", blocking(root))
	made(t, c, "Secret", secrets, "leaf", blocking(inner))
	remove(t, c, widgetPath+"/root", metav1.DeletePropagationForeground)
	c.Run(time.Second)
	expect(t, c, "everything goes")
	for _, name := range []string{"root", "inner"} {
		if c.Do(http.MethodGet, widgetPath+"/"+name, nil, nil) != http.StatusNotFound {
			t.Errorf("%s is still there", name)
		}
	}
}

func TestOwnersThatGoWithTheirType(t *testing.T) {
	c := cluster(t, garbage.New())
	must(t, c, http.MethodPost, definitions, widgets())
	made(t, c, "Secret", secrets, "child", madeWidget(t, c, "root"))
	must(t, c, http.MethodDelete, definitions+"/widgets.example.com", nil)
	c.Run(time.Second)
	expect(t, c, "the owner was seen to go, though its type is not served any more")
}

func TestNewTypesAreLearntLate(t *testing.T) {
	c := cluster(t, garbage.New(garbage.Discovery(30*time.Second)))
	c.Run(35 * time.Second)
	must(t, c, http.MethodPost, definitions, widgets())
	root := made(t, c, "ConfigMap", maps, "root")
	madeWidget(t, c, "child", blocking(root))
	remove(t, c, maps+"/root", metav1.DeletePropagationForeground)
	c.Run(time.Second)
	expect(t, c, "nothing that is known blocks the owner")
	if c.Do(http.MethodGet, widgetPath+"/child", nil, nil) != http.StatusOK {
		t.Error("the child went before its type was known")
	}
	c.Run(24 * time.Second)
	if c.Do(http.MethodGet, widgetPath+"/child", nil, nil) != http.StatusNotFound {
		t.Error("the child is still there, though its type is known")
	}
}

func TestOwnersInACircle(t *testing.T) {
	c := cluster(t, garbage.New())
	a := made(t, c, "ConfigMap", maps, "a")
	b := made(t, c, "ConfigMap", maps, "b", blocking(a))
	must(t, c, http.MethodPatch, maps+"/a",
		object{"metadata": object{"ownerReferences": []metav1.OwnerReference{blocking(b)}}})
	remove(t, c, maps+"/a", metav1.DeletePropagationForeground)
	c.Run(time.Minute)
	expect(t, c, "they do not wait for each other")
}

func TestADeletionThatIsRefused(t *testing.T) {
	var at []time.Duration
	var c *actortest.Cluster
	stop := false
	c = cluster(t, actortest.Between(garbage.New(), func(r *apiserver.Request) error {
		if r.Method == http.MethodDelete && !stop {
			at = append(at, c.Now())
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "child", fmt.Errorf("not now"))
		}
		return nil
	}))
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "Secret", secrets, "child", root)
	must(t, c, http.MethodDelete, maps+"/root", nil)
	c.Run(2 * time.Hour)
	if at[1]-at[0] != 5*time.Millisecond || at[2]-at[1] != 10*time.Millisecond {
		t.Errorf("attempts at %v: the first gaps should be 5 ms and 10 ms", at)
	}
	if gap := at[len(at)-1] - at[len(at)-2]; gap != 1000*time.Second {
		t.Errorf("the gaps should grow to 1000 s; the last is %v", gap)
	}
	must(t, c, http.MethodDelete, secrets+"/child", nil)
	c.Run(0)
	if p := pending(c); len(p) != 0 {
		t.Errorf("the object has gone, and this is pending: %v", p)
	}
}

func TestADependentOnItsWayOutIsLeftAlone(t *testing.T) {
	deletions := 0
	c := cluster(t, actortest.Between(garbage.New(), func(r *apiserver.Request) error {
		if r.Method == http.MethodDelete {
			deletions++
		}
		return nil
	}))
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "Secret", secrets, "child", root)
	must(t, c, http.MethodPatch, secrets+"/child", object{"metadata": object{"finalizers": []string{"x.example/one"}}})
	must(t, c, http.MethodDelete, secrets+"/child", nil)
	must(t, c, http.MethodDelete, maps+"/root", nil)
	c.Run(time.Minute)
	if deletions != 0 {
		t.Errorf("%d deletions of what is being deleted", deletions)
	}
}

func TestThePolicyThatAnObjectAsksFor(t *testing.T) {
	for finalizer, want := range map[string]string{"orphan": "child", "foregroundDeletion": ""} {
		c := cluster(t, garbage.New())
		root := made(t, c, "ConfigMap", maps, "root")
		middle := made(t, c, "ConfigMap", maps, "middle", root)
		must(t, c, http.MethodPatch, maps+"/middle", object{"metadata": object{"finalizers": []string{finalizer}}})
		made(t, c, "Secret", secrets, "child", blocking(middle))
		must(t, c, http.MethodDelete, maps+"/root", nil)
		c.Run(time.Minute)
		if got := strings.Join(left(c, "shop"), " "); got != want {
			t.Errorf("%s: %q is left, want %q", finalizer, got, want)
		}
	}
}

func TestACollectorThatStartsLate(t *testing.T) {
	c := cluster(t)
	root := made(t, c, "ConfigMap", maps, "root")
	made(t, c, "Secret", secrets, "child", root)
	waiting, orphaning := made(t, c, "ConfigMap", maps, "waiting"), made(t, c, "ConfigMap", maps, "orphaning")
	made(t, c, "Secret", secrets, "blocks", blocking(waiting))
	made(t, c, "Secret", secrets, "spared", orphaning)
	made(t, c, "ConfigMap", maps, "stays", made(t, c, "ClusterRole", roles, "role"))
	must(t, c, http.MethodDelete, maps+"/root", nil)
	remove(t, c, maps+"/waiting", metav1.DeletePropagationForeground)
	remove(t, c, maps+"/orphaning", metav1.DeletePropagationOrphan)
	c.Add(garbage.New())
	c.Run(time.Second)
	expect(t, c, "what happened before is found by listing", "stays", "spared")
}

func TestEventsAreNotCollected(t *testing.T) {
	c := cluster(t, garbage.New())
	root := made(t, c, "ConfigMap", maps, "root")
	must(t, c, http.MethodPost, "/api/v1/namespaces/shop/events", object{
		"metadata":       object{"name": "e", "ownerReferences": []metav1.OwnerReference{root}},
		"involvedObject": object{"namespace": "shop"},
	})
	must(t, c, http.MethodDelete, maps+"/root", nil)
	c.Run(time.Minute)
	if c.Do(http.MethodGet, "/api/v1/namespaces/shop/events/e", nil, nil) != http.StatusOK {
		t.Error("the event went with its owner")
	}
}

func BenchmarkBegin(b *testing.B) {
	c := actortest.New()
	for b.Loop() {
		c.Add(garbage.New())
	}
}

func BenchmarkObserve(b *testing.B) {
	c := actortest.New()
	a := garbage.New()
	c.Add(a)
	for _, name := range []string{"root", "child"} {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "root", UID: "1"}
		c.Do(http.MethodPost, "/api/v1/namespaces/default/configmaps",
			object{"metadata": object{"name": name, "ownerReferences": []metav1.OwnerReference{owner}}}, nil)
	}
	change := c.Changes[len(c.Changes)-1]
	change.Type = "MODIFIED"
	for b.Loop() {
		a.Observe(change)
	}
}
