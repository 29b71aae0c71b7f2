package upstream

// Corners in which the models once left otherwise than the real controllers.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

func withClaims(s *appsv1.StatefulSetSpec) {
	s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data",
		Labels: map[string]string{"part-of": "shop"}}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}}
}

// claimsOf tells of claims: their labels, whether they are the first of their name, and whether
// they are being deleted.
func claimsOf(h *history.History) string {
	var out []string
	for _, o := range h.Objects("", "PersistentVolumeClaim") {
		var c corev1.PersistentVolumeClaim
		must(o.Into(&c))
		out = append(out, fmt.Sprint(c.Name, " ", c.Labels, " deleting: ", c.DeletionTimestamp != nil, " ",
			c.Status.Phase, " made after the first minute: ", c.Annotations["mark"] == ""))
	}
	return strings.Join(out, "\n") + "\n" + remains(h)
}

func TestClaims(t *testing.T) {
	marked := func(w *sim.World) {
		w.Apply(db(2, withClaims))
		w.Sleep(let)
		for _, n := range []string{"data-db-0", "data-db-1"} {
			alter(w, &corev1.PersistentVolumeClaim{ObjectMeta: in("shop", n)},
				`{"metadata":{"annotations":{"mark":"yes"}}}`)
		}
	}
	for name, scenario := range map[string]func(*sim.World){
		"with labels": marked,
		"that are deleted with their pod": func(w *sim.World) {
			marked(w)
			must(w.Client().Delete(w.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: in("shop", "data-db-1")}))
			must(w.Client().Delete(w.Context(), &corev1.Pod{ObjectMeta: in("shop", "db-1")}))
			w.Sleep(let)
		},
		"that are held and deleted with their pod": func(w *sim.World) {
			marked(w)
			alter(w, &corev1.PersistentVolumeClaim{ObjectMeta: in("shop", "data-db-1")},
				`{"metadata":{"finalizers":["x.example/held"]}}`)
			must(w.Client().Delete(w.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: in("shop", "data-db-1")}))
			must(w.Client().Delete(w.Context(), &corev1.Pod{ObjectMeta: in("shop", "db-1")}))
			w.Sleep(let)
		},
		"that go with their pods, while the set is scaled up again": func(w *sim.World) {
			held := db(2, withClaims, func(s *appsv1.StatefulSetSpec) {
				s.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
					WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
					WhenScaled:  appsv1.DeletePersistentVolumeClaimRetentionPolicyType}
			})
			w.Apply(held)
			w.Sleep(let)
			for _, n := range []string{"data-db-0", "data-db-1"} {
				alter(w, &corev1.PersistentVolumeClaim{ObjectMeta: in("shop", n)},
					`{"metadata":{"annotations":{"mark":"yes"}}}`)
			}
			alter(w, db(0), scale(1))
			w.Sleep(500 * time.Millisecond)
			alter(w, db(0), scale(2))
			w.Sleep(2 * let)
		},
		"that go while their pod is pending": func(w *sim.World) {
			alter(w, &corev1.Node{ObjectMeta: in("", "n1")}, `{"spec":{"unschedulable":true}}`)
			alter(w, &corev1.Node{ObjectMeta: in("", "n2")}, `{"spec":{"unschedulable":true}}`)
			w.Apply(db(1, withClaims))
			w.Sleep(let)
			must(w.Client().Delete(w.Context(), &corev1.PersistentVolumeClaim{ObjectMeta: in("shop", "data-db-0")}))
			w.Sleep(let)
			alter(w, &corev1.Pod{ObjectMeta: in("shop", "db-0")}, `{"metadata":{"labels":{"touch":"yes"}}}`)
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, workloads, scenario, claimsOf) })
	}
}

func TestCornersOfStatefulSets(t *testing.T) {
	parallel := func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement }
	most := func(n int) func(*appsv1.StatefulSetSpec) {
		return func(s *appsv1.StatefulSetSpec) {
			s.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{MaxUnavailable: new(intstr.FromInt(n))}}
		}
	}
	unready := func(w *sim.World, name string) {
		must(w.Client().SubResource("status").Patch(w.Context(), &corev1.Pod{ObjectMeta: in("shop", name)},
			client.RawPatch(types.StrategicMergePatchType,
				[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`))))
		w.Sleep(time.Second)
	}
	for name, scenario := range map[string]func(*sim.World){
		"in parallel, with a sick pod, updated by what hangs": func(w *sim.World) {
			w.Apply(db(3, parallel))
			w.Sleep(let)
			unready(w, "db-0")
			alter(w, db(0), image("hangs"))
			w.Sleep(let)
		},
		"in parallel, two at a time, updated by what hangs": func(w *sim.World) {
			w.Apply(db(4, parallel, most(2)))
			w.Sleep(let)
			alter(w, db(0), image("hangs"))
			w.Sleep(let)
		},
		"two at a time": func(w *sim.World) {
			w.Apply(db(4, most(2)))
			w.Sleep(let)
			alter(w, db(0), image("web:2"))
			w.Sleep(let)
		},
		"that begins at 3 with a partition": func(w *sim.World) {
			s := db(3, func(s *appsv1.StatefulSetSpec) {
				s.Ordinals = &appsv1.StatefulSetOrdinals{Start: 3}
				s.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
					RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}}
			})
			w.Apply(s)
			w.Sleep(let)
			alter(w, s.DeepCopy(), image("db:2"))
			w.Sleep(let)
		},
		"that does not adopt strangers": func(w *sim.World) {
			p := &corev1.Pod{ObjectMeta: in("shop", "stranger"), Spec: template("web:1").Spec}
			p.Labels = labelled
			w.Apply(p)
			w.Apply(db(1))
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, workloads, scenario, remains) })
	}
}

func TestCornersOfReplicaSets(t *testing.T) {
	pods := func(w *sim.World) []corev1.Pod {
		var pods corev1.PodList
		must(w.Client().List(w.Context(), &pods, client.InNamespace("shop")))
		slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		return pods.Items
	}
	left := func(h *history.History) string {
		var out []string
		for _, o := range h.Objects("", "Pod") {
			var p corev1.Pod
			must(o.Into(&p))
			out = append(out, fmt.Sprint(p.Annotations))
		}
		slices.Sort(out)
		return strings.Join(out, "\n")
	}
	for name, scenario := range map[string]func(*sim.World){
		"whose pods are crowded": func(w *sim.World) {
			alter(w, &corev1.Node{ObjectMeta: in("", "n2")}, `{"spec":{"unschedulable":true}}`)
			w.Apply(web(2))
			w.Sleep(let)
			for _, p := range pods(w) {
				alter(w, &p, `{"metadata":{"annotations":{"on":"n1"}}}`)
			}
			alter(w, &corev1.Node{ObjectMeta: in("", "n1")}, `{"spec":{"unschedulable":true}}`)
			alter(w, &corev1.Node{ObjectMeta: in("", "n2")}, `{"spec":{"unschedulable":false}}`)
			alter(w, web(0), scale(3))
			w.Sleep(let)
			alter(w, web(0), scale(2))
			w.Sleep(let)
		},
		"with a pod that was not ready for a while": func(w *sim.World) {
			w.Apply(web(2))
			w.Sleep(3 * let)
			all := pods(w)
			alter(w, &all[0], `{"metadata":{"annotations":{"is":"the first"}}}`)
			for _, says := range []string{"False", "True"} {
				must(w.Client().SubResource("status").Patch(w.Context(), &all[0],
					client.RawPatch(types.StrategicMergePatchType,
						fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,`+
							`"lastTransitionTime":%q}]}}`, says, time.Now().UTC().Format(time.RFC3339)))))
				w.Sleep(5 * time.Second)
			}
			alter(w, web(0), scale(1))
			w.Sleep(let)
		},
		"with costs": func(w *sim.World) {
			w.Apply(web(4))
			w.Sleep(let)
			for i, p := range pods(w) {
				alter(w, &p, fmt.Sprintf(
					`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"%d"}}}`,
					[]int{100, -5, 100, 7}[i]))
			}
			w.Sleep(time.Second)
			alter(w, web(0), scale(2))
			w.Sleep(let)
		},
		"that may not delete pods": func(w *sim.World) {
			w.Apply(web(2))
			w.Sleep(let)
			refused(w, "", "pods", admissionregv1.Delete)
			alter(w, web(0), scale(1))
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) {
			told(t, workloads, scenario, func(h *history.History) string { return left(h) + "\n" + remains(h) })
		})
	}
}

func TestCornersOfDeployments(t *testing.T) {
	for name, scenario := range map[string]func(*sim.World){
		"that may not make sets": func(w *sim.World) {
			refused(w, "apps", "replicasets")
			w.Apply(web(2))
			w.Sleep(let)
		},
		"that may not make sets, then may": func(w *sim.World) {
			refused(w, "apps", "replicasets")
			w.Apply(web(2))
			w.Sleep(let)
			must(w.Client().Delete(w.Context(),
				&admissionregv1.ValidatingWebhookConfiguration{ObjectMeta: in("", "refused")}))
			w.Sleep(2 * let)
		},
		"that is created again while its sets still exist": func(w *sim.World) {
			w.Apply(web(2))
			w.Sleep(let)
			var sets appsv1.ReplicaSetList
			must(w.Client().List(w.Context(), &sets, client.InNamespace("shop")))
			alter(w, &sets.Items[0], `{"metadata":{"finalizers":["x.example/held"]}}`)
			must(w.Client().Delete(w.Context(), web(2)))
			w.Apply(web(2))
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, workloads, scenario, remains) })
	}
}

func TestCornersOfJobs(t *testing.T) {
	indexed := func(s *batchv1.JobSpec) {
		s.CompletionMode, s.Completions, s.Parallelism = new(batchv1.IndexedCompletion), new(int32(3)), new(int32(1))
	}
	jobs := func(h *history.History) string {
		var out []string
		for _, o := range h.Objects("batch", "Job") {
			var j batchv1.Job
			must(o.Into(&j))
			out = append(out, fmt.Sprint(j.Name, " succeeded ", j.Status.Succeeded, " indexes ",
				j.Status.CompletedIndexes))
		}
		indexes := map[string]int{}
		for _, e := range h.Events {
			for _, c := range e.Changes {
				if c.Ref.Kind == "Pod" && c.Type == "ADDED" {
					i := strings.Index(string(c.Object), `"batch.kubernetes.io/job-completion-index":"`)
					if i > 0 {
						indexes[string(c.Object[i:])[len(`"batch.kubernetes.io/job-completion-index":"`):][:1]]++
					}
				}
			}
		}
		for _, k := range slices.Sorted(maps.Keys(indexes)) {
			out = append(out, fmt.Sprintf("%d pods of index %s", indexes[k], k))
		}
		return strings.Join(out, "\n")
	}
	for name, scenario := range map[string]func(*sim.World){
		"indexed, whose pod is deleted when done": func(w *sim.World) {
			w.Apply(work("ends", indexed))
			w.Sleep(7 * time.Second)
			var pods corev1.PodList
			must(w.Client().List(w.Context(), &pods, client.InNamespace("shop")))
			for _, p := range pods.Items {
				if p.Status.Phase == corev1.PodSucceeded {
					must(w.Client().Delete(w.Context(), &p))
				}
			}
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { told(t, workloads, scenario, jobs) })
	}
}
