package upstream

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/quota"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
)

// daemons is the real controller of DaemonSets.
var daemons = program("daemonset-controller",
	func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		apps, core := c.typed.Apps().V1(), c.typed.Core().V1()
		d, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(),
			core.Nodes(), c.client,
			flowcontrol.NewBackOff(time.Second, 15*time.Minute))
		return d.Run, err
	})

// pinning is a scheduler that binds pods to the node that their affinity names, as DaemonSets' have
// it.
type pinning struct{ actor.Cluster }

func (*pinning) Name() string { return "scheduler" }

func (p *pinning) Begin(c actor.Cluster) { p.Cluster = c }

func (p *pinning) Observe(ch apiserver.Change) {
	var pod corev1.Pod
	if ch.Kind != "Pod" || ch.Type == "DELETED" || !actor.Decode(ch.Object, &pod) || pod.Spec.NodeName != "" ||
		pod.DeletionTimestamp != nil || pod.Spec.Affinity == nil {
		return
	}
	required := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	node := required.NodeSelectorTerms[0].MatchFields[0].Values[0]
	p.After(0, "binding of "+pod.Name, func() {
		_ = actor.Do(p, http.MethodPost, actor.Path("", "v1", pod.Namespace, "pods", pod.Name)+"/binding",
			&corev1.Binding{
				TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Binding"}, ObjectMeta: in(pod.Namespace, pod.Name),
				Target: corev1.ObjectReference{Kind: "Node", Name: node}}, nil)
	})
}

// told runs a scenario with the models and with the real controllers. What tell returns for the
// real ones must be among what it returns for the models.
func told(t *testing.T, controllers []controller, scenario func(*sim.World), tell func(*history.History) string) {
	t.Helper()
	arm := func(real []controller) []string {
		return ends(t, real, func(w *sim.World) {
			for _, a := range slices.Concat(workload.New(), []actor.Actor{quota.New()},
				kubelet.New(kubelet.Plans(plan), kubelet.Nodes("n1", "n2"))) {
				switch {
				case slices.ContainsFunc(real, func(c controller) bool { return c.name == a.Name() }):
				case a.Name() == "scheduler" &&
					slices.ContainsFunc(real, func(c controller) bool { return c.name == daemons.name }):
					w.Builtin(&pinning{})
				default:
					w.Builtin(a)
				}
			}
			w.Apply(shop())
			w.Sleep(time.Second) // until there are nodes
			scenario(w)
		}, tell)
	}
	ours := arm(nil)
	for i, left := range arm(controllers) {
		if !slices.Contains(ours, left) && !t.Failed() {
			t.Errorf("the real controllers, run %d, leave otherwise than the models (-):\n%s", i, diff(ours[0], left))
		}
	}
	t.Logf("left in the end:\n%s", ours[0])
}

// refused installs a webhook that refuses these operations on a type.
func refused(w *sim.World, group, resource string, what ...admissionregv1.OperationType) {
	w.Apply(&admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: in("", "refused"),
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name: "refused.x.example", AdmissionReviewVersions: []string{"v1"},
			SideEffects: new(admissionregv1.SideEffectClassNone), TimeoutSeconds: new(int32(1)),
			ClientConfig: admissionregv1.WebhookClientConfig{URL: new("https://absent.x.example/")},
			Rules: []admissionregv1.RuleWithOperations{{Operations: append(what, admissionregv1.Create),
				Rule: admissionregv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"},
					Resources: []string{resource}}}},
		}}})
	w.Sleep(time.Second)
}

// fleets tells of DaemonSets and how many pods of which image are ready.
func fleets(h *history.History) string {
	var out []string
	for _, o := range h.Objects("apps", "DaemonSet") {
		var d appsv1.DaemonSet
		must(o.Into(&d))
		s := d.Status
		out = append(out, fmt.Sprintf("%s: desired %d current %d ready %d updated %d available %d unavailable %d "+
			"observed %v", d.Name, s.DesiredNumberScheduled, s.CurrentNumberScheduled,
			s.NumberReady, s.UpdatedNumberScheduled, s.NumberAvailable, s.NumberUnavailable,
			s.ObservedGeneration == d.Generation))
	}
	for _, o := range h.Objects("", "Pod") {
		var p corev1.Pod
		must(o.Into(&p))
		out = append(out, fmt.Sprintf("pod on %s: %s %s", p.Spec.NodeName, p.Spec.Containers[0].Image, p.Status.Phase))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func agent(image string, change ...func(*appsv1.DaemonSetSpec)) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: in("shop", "agent"), Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labelled}, Template: template(image)}}
	for _, f := range change {
		f(&d.Spec)
	}
	return d
}

func TestDaemonSet(t *testing.T) {
	selecting := func(s *appsv1.DaemonSetSpec) { s.Template.Spec.NodeSelector = map[string]string{"disk": "fast"} }
	for name, scenario := range map[string]func(*sim.World){
		"that is made": func(w *sim.World) { w.Apply(agent("web:1")); w.Sleep(let) },
		"that is updated": func(w *sim.World) {
			w.Apply(agent("web:1"))
			w.Sleep(let)
			alter(w, agent(""), image("web:2"))
			w.Sleep(let)
		},
		"that hangs and is cured": func(w *sim.World) {
			w.Apply(agent("web:1"))
			w.Sleep(let)
			alter(w, agent(""), image("hangs"))
			w.Sleep(let)
			alter(w, agent(""), image("web:3"))
			w.Sleep(let)
		},
		"that hangs on the second node and is cured": func(w *sim.World) {
			w.Apply(agent("web:1"))
			w.Sleep(let)
			must(w.Client().SubResource("status").Patch(w.Context(),
				&corev1.Pod{ObjectMeta: in("shop", podOn(w, "n2"))},
				client.RawPatch(types.StrategicMergePatchType,
					[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`))))
			w.Sleep(time.Second)
			alter(w, agent(""), image("web:3"))
			w.Sleep(let)
		},
		"whose node is labelled": func(w *sim.World) {
			w.Apply(agent("web:1", selecting))
			w.Sleep(let)
			alter(w, &corev1.Node{ObjectMeta: in("", "n1")}, `{"metadata":{"labels":{"disk":"fast"}}}`)
			w.Sleep(let)
		},
		"whose node is labelled otherwise": func(w *sim.World) {
			alter(w, &corev1.Node{ObjectMeta: in("", "n1")}, `{"metadata":{"labels":{"disk":"fast"}}}`)
			w.Apply(agent("web:1", selecting))
			w.Sleep(let)
			alter(w, &corev1.Node{ObjectMeta: in("", "n1")}, `{"metadata":{"labels":{"disk":"slow"}}}`)
			w.Sleep(let)
		},
		"that may not make pods": func(w *sim.World) {
			refused(w, "", "pods")
			w.Apply(agent("web:1"))
			w.Sleep(let)
		},
		"whose pod is held when it is deleted": func(w *sim.World) {
			w.Apply(agent("web:1"))
			w.Sleep(let)
			p := &corev1.Pod{ObjectMeta: in("shop", podOn(w, "n2"))}
			alter(w, p, `{"metadata":{"finalizers":["x.example/held"]}}`)
			must(w.Client().Delete(w.Context(), p))
			w.Sleep(let)
		},
		"that waits for deletions": func(w *sim.World) {
			w.Apply(agent("web:1",
				func(s *appsv1.DaemonSetSpec) { s.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType }))
			w.Sleep(let)
			alter(w, agent(""), image("web:2"))
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, []controller{daemons}, scenario, fleets) })
	}
}

func podOn(w *sim.World, node string) string {
	var pods corev1.PodList
	must(w.Client().List(w.Context(), &pods, client.InNamespace("shop")))
	for _, p := range pods.Items {
		if p.Spec.NodeName == node {
			return p.Name
		}
	}
	panic("no pod on " + node)
}
