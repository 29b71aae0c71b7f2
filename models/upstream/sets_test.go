package upstream

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

func TestStatefulSet(t *testing.T) {
	parallel := func(s *appsv1.StatefulSetSpec) { s.PodManagementPolicy = appsv1.ParallelPodManagement }
	made := func(image string) func(*appsv1.StatefulSetSpec) {
		return func(s *appsv1.StatefulSetSpec) { s.Template = template(image) }
	}
	partition := func(n int32) func(*appsv1.StatefulSetSpec) {
		return func(s *appsv1.StatefulSetSpec) {
			s.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &n}}
		}
	}
	claims := func(s *appsv1.StatefulSetSpec) {
		s.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: in("", "data"),
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}}
	}
	retained := func(deleted, scaled appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSetSpec) {
		return func(s *appsv1.StatefulSetSpec) {
			s.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: deleted, WhenScaled: scaled,
			}
		}
	}
	goes := func(s *appsv1.StatefulSet, patches ...string) func(*sim.World) {
		return func(w *sim.World) {
			w.Apply(s)
			w.Sleep(let)
			for _, p := range patches {
				alter(w, s.DeepCopy(), p)
				w.Sleep(let)
			}
		}
	}
	for name, scenario := range map[string]func(*sim.World){
		"that is made":                       goes(db(3)),
		"of nothing":                         goes(db(0)),
		"in parallel":                        goes(db(3, parallel)),
		"that hangs":                         goes(db(3, made("hangs"))),
		"that hangs in parallel":             goes(db(3, parallel, made("hangs"))),
		"that is scaled":                     goes(db(3), scale(5), scale(1)),
		"that is scaled in parallel":         goes(db(3, parallel), scale(5), scale(1)),
		"that is updated":                    goes(db(3), image("db:2")),
		"that is updated in parallel":        goes(db(3, parallel), image("db:2")),
		"that is updated and back":           goes(db(2), image("db:2"), image("db:1")),
		"updated by what hangs":              goes(db(3), image("hangs")),
		"updated by what hangs, then cured":  goes(db(3), image("hangs"), image("db:2")),
		"updated by what hangs, in parallel": goes(db(3, parallel), image("hangs")),
		"with a partition":                   goes(db(4, partition(2)), image("db:2")),
		"with a partition, and scaled":       goes(db(4, partition(2)), image("db:2"), scale(6), scale(1), scale(4)),
		"with a partition that falls": goes(db(4, partition(2)), image("db:2"),
			`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`),
		"with a partition beyond the end": goes(db(2, partition(5)), image("db:2")),
		"that waits for " +
			"deletions": goes(db(2,
			func(s *appsv1.StatefulSetSpec) { s.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType }),
			image("db:2")),
		"with time to be ready for": goes(db(3, func(s *appsv1.StatefulSetSpec) { s.MinReadySeconds = 10 }),
			image("db:2")),
		"with more time than it is given": goes(db(3, func(s *appsv1.StatefulSetSpec) { s.MinReadySeconds = 3000 })),
		"that begins at 3": goes(db(2, func(
			s *appsv1.StatefulSetSpec) {
			s.Ordinals = &appsv1.StatefulSetOrdinals{Start: 3}
		}), scale(3), scale(1)),
		"whose beginning moves": goes(db(3), `{"spec":{"ordinals":{"start":1}}}`),
		"with claims":           goes(db(2, claims), scale(3), scale(1)),
		"with claims that go with the " +
			"pods": goes(db(3, claims, retained(appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			appsv1.DeletePersistentVolumeClaimRetentionPolicyType)), scale(1)),
		"with claims that go with the set": func(w *sim.World) {
			s := db(2, claims, retained(appsv1.DeletePersistentVolumeClaimRetentionPolicyType,
				appsv1.RetainPersistentVolumeClaimRetentionPolicyType))
			goes(s)(w)
			must(w.Client().Delete(w.Context(), s.DeepCopy()))
			w.Sleep(let)
		},
		"with a short history": goes(db(1, func(s *appsv1.StatefulSetSpec) { s.RevisionHistoryLimit = new(int32(1)) }),
			image("db:2"), image("db:3"), image("db:4")),
		"whose pod is deleted": func(w *sim.World) {
			goes(db(3))(w)
			must(w.Client().Delete(w.Context(), &corev1.Pod{ObjectMeta: in("shop", "db-1")}))
			w.Sleep(let)
		},
		"whose pod is deleted with an old revision": func(w *sim.World) {
			goes(db(3, partition(2)), image("db:2"))(w)
			must(w.Client().Delete(w.Context(), &corev1.Pod{ObjectMeta: in("shop", "db-0")}))
			must(w.Client().Delete(w.Context(), &corev1.Pod{ObjectMeta: in("shop", "db-2")}))
			w.Sleep(let)
		},
		"that lets go": func(w *sim.World) {
			goes(db(2))(w)
			alter(w, &corev1.Pod{ObjectMeta: in("shop", "db-1")}, `{"metadata":{"labels":{"app":"other"}}}`)
			w.Sleep(let)
		},
		"that adopts": func(w *sim.World) {
			goes(db(2))(w)
			must(w.Client().Delete(w.Context(), db(2), client.PropagationPolicy("Orphan")))
			w.Sleep(let)
			goes(db(2))(w)
		},
	} {
		t.Run(name, func(t *testing.T) { equally(t, scenario) })
	}
}

func TestJob(t *testing.T) {
	completions := func(n, parallel int32) func(*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = &n, &parallel }
	}
	indexed := func(s *batchv1.JobSpec) { s.CompletionMode = new(batchv1.IndexedCompletion) }
	limit := func(n int32) func(*batchv1.JobSpec) { return func(s *batchv1.JobSpec) { s.BackoffLimit = &n } }
	deadline := func(n int64) func(
		*batchv1.JobSpec) {
		return func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = &n }
	}
	suspended := func(s *batchv1.JobSpec) { s.Suspend = new(true) }
	onFailure := func(s *batchv1.JobSpec) { s.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }
	goes := func(j *batchv1.Job, wait time.Duration, patches ...string) func(*sim.World) {
		return func(w *sim.World) {
			w.Apply(j)
			w.Sleep(wait)
			for _, p := range patches {
				alter(w, j.DeepCopy(), p)
				w.Sleep(let)
			}
		}
	}
	for name, scenario := range map[string]func(*sim.World){
		"that ends":                       goes(work("ends"), let),
		"that runs":                       goes(work("web:1"), let),
		"with completions":                goes(work("ends", completions(5, 2)), let),
		"with more pods than completions": goes(work("ends", completions(2, 5)), let),
		"with parallelism alone": goes(
			work("ends", func(s *batchv1.JobSpec) { s.Parallelism = new(int32(3)) }), let),
		"of no completions": goes(work("ends", completions(0, 2)), let),
		"of no parallelism": goes(work("ends", completions(2, 0)), let),
		"whose parallelism rises and falls": goes(work("web:1", completions(5, 1)), let, `{"spec":{"parallelism":4}}`,
			`{"spec":{"parallelism":2}}`, `{"spec":{"parallelism":0}}`),
		"indexed":           goes(work("ends", indexed, completions(5, 2)), let),
		"indexed that runs": goes(work("web:1", indexed, completions(5, 3)), let),
		"indexed that fails": goes(work("fails", indexed, completions(3, 3), limit(2)),
			10*time.Minute),
		"that fails":                       goes(work("fails", limit(2)), 10*time.Minute),
		"that may not fail":                goes(work("fails", limit(0)), let),
		"that fails for a while":           goes(work("fails"), let),
		"that fails for long":              goes(work("fails"), time.Hour),
		"that fails next to others":        goes(work("fails", completions(4, 2), limit(3)), 10*time.Minute),
		"that restarts on failure":         goes(work("fails", onFailure, limit(2)), 10*time.Minute),
		"past its deadline":                goes(work("web:1", deadline(30)), let),
		"past its deadline while it fails": goes(work("fails", deadline(60)), let),
		"suspended":                        goes(work("ends", suspended), let),
		"suspended and resumed":            goes(work("ends", suspended), let, `{"spec":{"suspend":false}}`),
		"that is suspended":                goes(work("web:1", completions(3, 2)), let, `{"spec":{"suspend":true}}`),
		"that is suspended and resumed": goes(work("web:1", completions(3, 2)), let, `{"spec":{"suspend":true}}`,
			`{"spec":{"suspend":false}}`),
		"suspended with a deadline, resumed": goes(work("web:1", suspended, deadline(60)), let,
			`{"spec":{"suspend":false}}`),
		"with a time to live": goes(
			work("ends", func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = new(int32(3600)) }), let),
		"whose pods are replaced when failed": goes(
			work("web:1", func(s *batchv1.JobSpec) { s.PodReplacementPolicy = new(batchv1.Failed) }), let),
		"that is deleted in the background and created again": func(w *sim.World) {
			goes(work("web:1"), let)(w)
			must(w.Client().Delete(w.Context(), work("web:1"),
				client.PropagationPolicy(metav1.DeletePropagationBackground)))
			goes(work("web:1"), let)(w)
		},
		"that is deleted without its pods and created again": func(w *sim.World) {
			goes(work("web:1"), let)(w)
			must(w.Client().Delete(w.Context(), work("web:1"),
				client.PropagationPolicy(metav1.DeletePropagationOrphan)))
			w.Sleep(time.Second)
			goes(work("web:1"), let)(w)
		},
		"whose pod is deleted": func(w *sim.World) {
			goes(work("web:1"), let)(w)
			var pods corev1.PodList
			must(w.Client().List(w.Context(), &pods, client.InNamespace("shop")))
			must(w.Client().Delete(w.Context(), &pods.Items[0]))
			w.Sleep(let)
		},
	} {
		t.Run(name, func(t *testing.T) { equally(t, scenario) })
	}
}
