package upstream

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	scales "k8s.io/client-go/scale"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// disruptions is the real controller of PodDisruptionBudgets, newDisruptionController of policy.go.
var disruptions = program("disruption-controller",
	func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.client.Discovery()))
		scaler, err := scales.NewForConfig(c.cfg, mapper, dynamic.LegacyAPIPathResolverFunc,
			scales.NewDiscoveryScaleKindResolver(c.client.Discovery()))
		if err != nil {
			return nil, err
		}
		core, apps := c.typed.Core().V1(), c.typed.Apps().V1()
		return disruption.NewDisruptionController(ctx, core.Pods(), c.typed.Policy().V1().PodDisruptionBudgets(),
			core.ReplicationControllers(),
			apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), c.client, mapper, scaler,
			c.client.Discovery()).Run, nil
	})

// budgets tells of PodDisruptionBudgets, and what Events say of them, whatever their number.
func budgets(h *history.History) string {
	var out []string
	for _, o := range h.Objects("policy", "PodDisruptionBudget") {
		var b policyv1.PodDisruptionBudget
		must(o.Into(&b))
		s := b.Status
		line := fmt.Sprintf("%s: healthy %d of %d, wanted %d, allowed %d, observed %v, disrupted %d", b.Name,
			s.CurrentHealthy, s.ExpectedPods, s.DesiredHealthy,
			s.DisruptionsAllowed, s.ObservedGeneration == b.Generation, len(s.DisruptedPods))
		for _, c := range s.Conditions {
			line += fmt.Sprintf("; %s %s %s %s %v", c.Type, c.Status, c.Reason, given.ReplaceAllString(c.Message, "-…"),
				c.ObservedGeneration == b.Generation)
		}
		out = append(out, line)
	}
	return strings.Join(append(out, stories(h, "PodDisruptionBudget")...), "\n")
}

func keep(least, most string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{ObjectMeta: in("shop", "web"),
		Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labelled}}}
	if least != "" {
		b.Spec.MinAvailable = new(intstr.Parse(least))
	}
	if most != "" {
		b.Spec.MaxUnavailable = new(intstr.Parse(most))
	}
	return b
}

func TestBudgets(t *testing.T) {
	of := func(b *policyv1.PodDisruptionBudget) func(*sim.World) {
		return func(w *sim.World) { w.Apply(b); w.Apply(web(3)); w.Sleep(let) }
	}
	for name, scenario := range map[string]func(*sim.World){
		"a number that must be there": of(keep("2", "")),
		"a share that must be there":  of(keep("50%", "")),
		"a number that may be away":   of(keep("", "1")),
		"a share that may be away":    of(keep("", "34%")),
		"more than there are":         of(keep("7", "")),
		"neither":                     of(keep("", "")),
		"nothing there":               func(w *sim.World) { w.Apply(keep("1", "")); w.Sleep(let) },
		"a StatefulSet":               func(w *sim.World) { w.Apply(keep("", "1")); w.Apply(db(3)); w.Sleep(let) },
		"another spec": func(w *sim.World) {
			of(keep("2", ""))(w)
			alter(w, keep("", ""), `{"spec":{"minAvailable":3}}`)
			w.Sleep(let)
		},
		"a Deployment that is scaled": func(
			w *sim.World) {
			of(keep("", "1"))(w)
			alter(w, web(0), scale(1))
			w.Sleep(let)
		},
		"a Deployment that hangs halfway": func(
			w *sim.World) {
			of(keep("", "1"))(w)
			alter(w, web(0), image("hangs"))
			w.Sleep(let)
		},
		"pods that lose the label": func(w *sim.World) {
			w.Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "alone", Labels: labelled},
				Spec: template("web").Spec})
			w.Apply(keep("1", ""))
			w.Sleep(let)
			alter(w, &corev1.Pod{ObjectMeta: in("shop", "alone")}, `{"metadata":{"labels":{"app":"other"}}}`)
			w.Sleep(let)
		},
		"a pod without a controller": func(w *sim.World) {
			w.Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "alone", Labels: labelled},
				Spec: template("web").Spec})
			w.Apply(keep("", "1"))
			w.Sleep(let)
		},
		"a Job": func(w *sim.World) {
			w.Apply(work("web", func(s *batchv1.JobSpec) { s.Template.Labels = labelled }))
			w.Apply(keep("", "1"))
			w.Sleep(let)
		},
		"a ReplicaSet alone": func(w *sim.World) {
			w.Apply(&appsv1.ReplicaSet{ObjectMeta: in("shop", "web"),
				Spec: appsv1.ReplicaSetSpec{Replicas: new(int32(2)),
					Selector: &metav1.LabelSelector{MatchLabels: labelled}, Template: template("web")}})
			w.Apply(keep("25%", ""))
			w.Sleep(let)
		},
		"pods that are evicted one by one": func(w *sim.World) {
			of(keep("", "1"))(w)
			for range 5 {
				var pods corev1.PodList
				must(w.Client().List(w.Context(), &pods, client.InNamespace("shop")))
				for i := range pods.Items {
					_ = w.Client().SubResource("eviction").Create(w.Context(), &pods.Items[i], &policyv1.Eviction{})
				}
				w.Sleep(20 * time.Second)
			}
			w.Sleep(let)
		},
		"a pod that was to be evicted": func(w *sim.World) {
			of(keep("1", ""))(w)
			var pods corev1.PodList
			must(w.Client().List(w.Context(), &pods))
			must(w.Client().SubResource("status").Patch(w.Context(), keep("", ""),
				client.RawPatch(types.MergePatchType, []byte(fmt.Sprintf(`{"status":{"disruptedPods":{%q:%q}}}`,
					pods.Items[0].Name, time.Date(2000, 1, 1, 0, 2, 0, 0, time.UTC).Format(time.RFC3339))))))
			w.Sleep(3 * time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, []controller{disruptions}, scenario, budgets) })
	}
}
