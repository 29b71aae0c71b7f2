package upstream

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

// alter changes an object by a merge patch.
func alter(w *sim.World, o client.Object, patch string) {
	must(w.Client().Patch(w.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch))))
}

func image(name string) string {
	return fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"c","image":%q}]}}}}`, name)
}

func scale(n int) string { return fmt.Sprintf(`{"spec":{"replicas":%d}}`, n) }

// let is how long a scenario gives everybody.
const let = 2 * time.Minute

// rolling sets the fence of a rolling update.
func rolling(surge, unavailable string) func(*appsv1.DeploymentSpec) {
	return func(s *appsv1.DeploymentSpec) {
		a, b := intstr.Parse(surge), intstr.Parse(unavailable)
		s.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
			RollingUpdate: &appsv1.RollingUpdateDeployment{MaxSurge: &a, MaxUnavailable: &b}}
	}
}

func rollsTo(d *appsv1.Deployment, images ...string) func(*sim.World) {
	return func(w *sim.World) {
		w.Apply(d)
		w.Sleep(let)
		for _, i := range images {
			alter(w, d.DeepCopy(), image(i))
			w.Sleep(let)
		}
	}
}

func TestDeployment(t *testing.T) {
	recreate := func(s *appsv1.DeploymentSpec) { s.Strategy.Type = appsv1.RecreateDeploymentStrategyType }
	for name, scenario := range map[string]func(*sim.World){
		"that is made":                  rollsTo(web(3)),
		"of nothing":                    rollsTo(web(0)),
		"that rolls out":                rollsTo(web(4), "web:2"),
		"with a surge alone":            rollsTo(web(3, rolling("2", "0")), "web:2"),
		"without a surge":               rollsTo(web(3, rolling("0", "1")), "web:2"),
		"all at once":                   rollsTo(web(3, rolling("100%", "100%")), "web:2"),
		"with a fence that rounds to 0": rollsTo(web(3, rolling("0%", "10%")), "web:2"),
		"that hangs":                    rollsTo(web(4), "hangs"),
		"that hangs, without a surge":   rollsTo(web(4, rolling("0", "2")), "hangs"),
		"that hangs and is rolled back": rollsTo(web(4), "hangs", "web:1"),
		"that hangs and is rolled on":   rollsTo(web(4), "hangs", "web:3"),
		"that fails":                    rollsTo(web(2), "fails"),
		"that is recreated":             rollsTo(web(3, recreate), "web:2"),
		"that is recreated and hangs":   rollsTo(web(3, recreate), "hangs"),
		"with a short history": rollsTo(
			web(1, func(s *appsv1.DeploymentSpec) { s.RevisionHistoryLimit = new(int32) }), "web:2", "web:3"),
		"that goes back and forth": rollsTo(web(2), "web:2", "web:1", "web:2"),
		"with time to be ready for": rollsTo(web(3, func(s *appsv1.DeploymentSpec) { s.MinReadySeconds = 10 }),
			"web:2"),
		"with more time than it is given": rollsTo(web(3, func(s *appsv1.DeploymentSpec) { s.MinReadySeconds = 3000 }),
			"web:2"),
		"past its deadline": rollsTo(
			web(3, func(s *appsv1.DeploymentSpec) { s.ProgressDeadlineSeconds = new(int32(30)) }), "hangs"),
		"past its deadline from the start": rollsTo(web(3, func(s *appsv1.DeploymentSpec) {
			s.ProgressDeadlineSeconds = new(int32(30))
			s.Template = template("hangs")
		})),
		"past its deadline, then cured": rollsTo(
			web(3, func(s *appsv1.DeploymentSpec) { s.ProgressDeadlineSeconds = new(int32(30)) }), "hangs", "web:2"),
		"that is paused from the beginning": rollsTo(web(3, func(s *appsv1.DeploymentSpec) { s.Paused = true })),
		"that is scaled": func(w *sim.World) {
			w.Apply(web(3))
			w.Sleep(let)
			alter(w, web(0), scale(6))
			w.Sleep(let)
			alter(w, web(0), scale(2))
			w.Sleep(let)
		},
		"that is scaled to nothing": func(w *sim.World) {
			w.Apply(web(3))
			w.Sleep(let)
			alter(w, web(0), scale(0))
			w.Sleep(let)
		},
		"that is scaled while it hangs": func(w *sim.World) {
			rollsTo(web(10, rolling("3", "2")), "hangs")(w)
			alter(w, web(0), scale(20))
			w.Sleep(let)
		},
		"that is scaled down while it hangs": func(w *sim.World) {
			rollsTo(web(10, rolling("3", "2")), "hangs")(w)
			alter(w, web(0), scale(5))
			w.Sleep(let)
		},
		"that is paused, changed and scaled": func(w *sim.World) {
			w.Apply(web(3))
			w.Sleep(let)
			alter(w, web(0), `{"spec":{"paused":true}}`)
			alter(w, web(0), image("web:2"))
			w.Sleep(let)
			alter(w, web(0), scale(5))
			w.Sleep(let)
		},
		"that is paused and resumed": func(w *sim.World) {
			w.Apply(web(3))
			w.Sleep(let)
			alter(w, web(0), `{"spec":{"paused":true}}`)
			alter(w, web(0), image("web:2"))
			w.Sleep(let)
			alter(w, web(0), `{"spec":{"paused":false}}`)
			w.Sleep(let)
		},
		"that is paused while it hangs, and scaled": func(w *sim.World) {
			rollsTo(web(10, rolling("3", "2")), "hangs")(w)
			alter(w, web(0), `{"spec":{"paused":true}}`)
			w.Sleep(let)
			alter(w, web(0), scale(20))
			w.Sleep(let)
		},
		"whose annotations change": func(w *sim.World) {
			w.Apply(web(1))
			w.Sleep(let)
			alter(w, web(0), `{"metadata":{"annotations":{"x.example/y":"z"}}}`)
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { equally(t, scenario) })
	}
}

func TestDeletionOfWorkloads(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground,
		metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		for name, o := range map[string]client.Object{"Deployment": web(2), "StatefulSet": db(2),
			"Job": work("web:1")} {
			t.Run(fmt.Sprint(name, " ", policy), func(t *testing.T) {
				equally(t, func(w *sim.World) {
					w.Apply(o)
					w.Sleep(let)
					must(w.Client().Delete(w.Context(), o.DeepCopyObject().(client.Object),
						client.PropagationPolicy(policy)))
					w.Sleep(let)
				})
			})
		}
	}
}

func TestReplicaSet(t *testing.T) {
	set := func() *appsv1.ReplicaSet {
		return &appsv1.ReplicaSet{ObjectMeta: in("shop", "set"), Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labelled},
			Template: template("web:1")}}
	}
	stray := func(name string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: in("shop", name), Spec: template("web:1").Spec}
		p.Labels = labelled
		return p
	}
	first := func(w *sim.World) *corev1.Pod {
		var pods corev1.PodList
		must(w.Client().List(w.Context(), &pods, client.InNamespace("shop")))
		return &pods.Items[0]
	}
	for name, scenario := range map[string]func(*sim.World){
		"that is made": func(w *sim.World) { w.Apply(set()); w.Sleep(let) },
		"that adopts":  func(w *sim.World) { w.Apply(stray("stray-one")); w.Sleep(let); w.Apply(set()); w.Sleep(let) },
		"that adopts what comes later, and has too many": func(w *sim.World) {
			w.Apply(set())
			w.Sleep(let)
			w.Apply(stray("stray-one"))
			w.Sleep(let)
		},
		"that lets go": func(w *sim.World) {
			w.Apply(set())
			w.Sleep(let)
			alter(w, first(w), `{"metadata":{"labels":{"app":"other"}}}`)
			w.Sleep(let)
		},
		"whose pod is deleted": func(w *sim.World) {
			w.Apply(set())
			w.Sleep(let)
			must(w.Client().Delete(w.Context(), first(w)))
			w.Sleep(let)
		},
		"that may not make pods": func(w *sim.World) {
			w.Apply(&corev1.ResourceQuota{ObjectMeta: in("shop", "none")})
			s := set()
			s.Spec.Template.Spec.Containers[0].Name = "c"
			w.Apply(s)
			w.Sleep(let)
		},
		"whose selector other pods match that are owned": func(w *sim.World) {
			w.Apply(set())
			w.Sleep(let)
			other := set()
			other.Name = "other"
			w.Apply(other)
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { equally(t, scenario) })
	}
}
