package property_test

import (
	"context"
	"fmt"
	"math/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// Each strategy has the undisturbed run, from the first run on. It has no faults.
func TestUndisturbedRunHasNoFaults(t *testing.T) {
	for _, strategy := range []string{"portfolio", "random", "rapid", "exhaustive"} {
		other := 0
		r := sim.Explore(t, func(w *sim.World) {
			calm := w.Undisturbed()
			if calm != w.History() {
				other++
				for _, e := range calm.Events {
					if e.Kind == history.Fault || e.Kind == history.Crash {
						t.Errorf("%s: the undisturbed run has %s", strategy, e.String())
					}
				}
			}
			w.Eventually("a crash leaves no trace", property.CrashSafe(calm))
			w.Start("p", simtest.Mirror)
			w.Inject(fault.Crash("p"))
			w.Apply(simtest.Source("a", "k", "v"))
			w.Settle()
		}, sim.Strategy(strategy), sim.Runs(10), sim.For(0))
		if r.Failure != nil {
			t.Errorf("%s: %s", strategy, r.Failure.Text())
		}
		if other < 10 {
			t.Errorf("%s: only %d of %d runs had another to compare with", strategy, other, r.Runs)
		}
	}
}

// leavesNoTrace fails the test unless a program whose object is created and changed under a fault
// leaves the same as in the undisturbed run.
func leavesNoTrace(t *testing.T, runs int, declared fault.Fault, start func(*sim.World)) {
	t.Helper()
	simtest.Holds(t, func(w *sim.World) {
		calm := w.Undisturbed()
		start(w)
		w.Inject(declared)
		w.Eventually("a fault leaves no trace", property.CrashSafe(calm))
		for _, value := range []string{"1", "2"} {
			w.Apply(simtest.Source("src-a", "k", value))
			w.Settle()
		}
	}, sim.Runs(runs), sim.For(0))
}

func TestCrashSafeAllowsConflict(t *testing.T) {
	leavesNoTrace(t, 50, fault.Conflict(), func(w *sim.World) {
		w.Start("mirror", simtest.Mirror)
	})
}

func TestCrashSafeAllowsJobs(t *testing.T) {
	leavesNoTrace(t, 50, fault.Crash("p"), func(w *sim.World) {
		w.Start("p", simtest.Reconciles(func(
			ctx context.Context, c client.Client, cm *corev1.ConfigMap,
		) (reconcile.Result, error) {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: cm.Name},
				Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
					Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
						Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
		}))
	})
}

func TestCrashSafeAllowsGeneratedNames(t *testing.T) {
	leavesNoTrace(t, 50, fault.Crash("p"), func(w *sim.World) {
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("namer").For(&corev1.ConfigMap{},
				simtest.Role("source")).Owns(&corev1.Secret{}).
				Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
					var cm corev1.ConfigMap
					if err := mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm); err != nil {
						return reconcile.Result{}, client.IgnoreNotFound(err)
					}
					var all corev1.SecretList // it adopts what is there: nothing is ever made twice
					if err := mgr.GetAPIReader().List(ctx, &all); err != nil {
						return reconcile.Result{}, err
					}
					if len(all.Items) == 0 {
						s := corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "s-"}}
						if err := controllerutil.SetControllerReference(&cm, &s, mgr.GetScheme()); err != nil {
							return reconcile.Result{}, err
						}
						if err := mgr.GetClient().Create(ctx, &s); err != nil {
							return reconcile.Result{}, err
						}
						all.Items = append(all.Items, s)
					}
					if cm.Data["secret"] == all.Items[0].Name {
						return reconcile.Result{}, nil
					}
					cm.Data = map[string]string{"secret": all.Items[0].Name}
					return reconcile.Result{}, mgr.GetClient().Update(ctx, &cm)
				}))
		})
	})
}

func TestCrashSafeAllowsPeriodicWrites(t *testing.T) {
	leavesNoTrace(t, 20, fault.Crash("p"), func(w *sim.World) {
		w.Without("settles")
		w.Start("p", simtest.Reconciles(func(
			ctx context.Context, c client.Client, cm *corev1.ConfigMap,
		) (reconcile.Result, error) {
			// as a program that renews a certificate
			cm.Data = map[string]string{"now": time.Now().Truncate(time.Hour).Format(time.RFC3339)}
			return reconcile.Result{RequeueAfter: time.Hour}, c.Update(ctx, cm)
		}))
	})
}

func newUUID() string { return string(uuid.NewUUID()) }

// bookkeeper makes an outside account for each ConfigMap, and a ConfigMap with its address. The
// account's reference is random. Each reference makes one account.
type bookkeeper struct {
	client.Client
	live     client.Reader
	outside  *http.Client
	draw     func() string
	recorded bool // the reference is recorded before it is used
}

func (b *bookkeeper) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := b.live.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	ref := cm.Data["reference"]
	drawn := ref == ""
	if drawn {
		ref = b.draw()
	}
	if drawn && b.recorded {
		if err := b.record(ctx, &cm, ref); err != nil {
			return reconcile.Result{}, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://accounts.example/v1/"+ref, nil)
	if err != nil {
		return reconcile.Result{}, err
	}
	resp, err := b.outside.Do(r)
	if err != nil {
		return reconcile.Result{}, err
	}
	defer resp.Body.Close()
	if drawn && !b.recorded {
		if err := b.record(ctx, &cm, ref); err != nil {
			return reconcile.Result{}, err
		}
	}
	where := simtest.ConfigMap(cm.Name + "-" + ref)
	_, err = controllerutil.CreateOrUpdate(ctx, b.Client, where, func() error {
		where.Data = map[string]string{"url": "http://accounts.example/v1/" + ref}
		return controllerutil.SetControllerReference(&cm, where, b.Scheme())
	})
	return reconcile.Result{}, err
}

func (b *bookkeeper) record(ctx context.Context, cm *corev1.ConfigMap, ref string) error {
	cm.Data = map[string]string{"reference": ref}
	return b.Update(ctx, cm)
}

// booked is the scenario of a bookkeeper.
func booked(draw func() string, recorded bool) func(*sim.World) {
	return func(w *sim.World) {
		calm := w.Undisturbed()
		made := map[string]bool{}
		w.External("accounts.example", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if ref := strings.TrimPrefix(r.URL.Path, "/v1/"); !made[ref] {
				made[ref] = true
				history.AddEffect(r.Context(), history.Effect{Kind: "account", Key: ref})
			}
		}))
		w.Start("p", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("account").For(&corev1.ConfigMap{}, simtest.Role("source")).
				Complete(&bookkeeper{mgr.GetClient(), mgr.GetAPIReader(), sim.HTTPClient(mgr), draw, recorded})
		})
		w.Inject(fault.Crash("p"), fault.LostReply(), fault.StaleCache(10*time.Second), fault.ServerError())
		w.Eventually("a fault leaves no trace", property.CrashSafe(calm))
		w.Eventually("one account each", func(h *history.History) error {
			if len(made) > 2 {
				return fmt.Errorf("there are %d accounts", len(made))
			}
			return nil
		})
		w.Apply(simtest.Source("a"), simtest.Source("b"))
		w.Settle()
	}
}

// A random value differs from run to run, wherever a correct operator has it from.
func TestCrashSafeAllowsRandomValues(t *testing.T) {
	for from, draw := range map[string]func() string{
		"crypto/rand":  newUUID,
		"math/rand":    func() string { return fmt.Sprintf("r%d", 1e8+rand.Intn(9e8)) },
		"apimachinery": func() string { return utilrand.String(10) },
	} {
		if f := sim.Explore(t, booked(draw, true), sim.Runs(10), sim.For(0)).Failure; f != nil {
			t.Errorf("%s: %s", from, f.Text())
		}
	}
	f := sim.Explore(t, booked(newUUID, false), sim.Runs(30), sim.For(0)).Failure
	if f == nil || f.Property != "one account each" {
		t.Errorf("a reference that is used before it is recorded: %v", f)
	}
}

// site makes a Deployment, a Service and a ConfigMap with the Service's address for each ConfigMap,
// as the operator of a new kubebuilder project would.
type site struct {
	client.Client
	live client.Reader
}

func (s *site) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).Named("site").For(&corev1.ConfigMap{}, simtest.Role("source")).
		Owns(&appsv1.Deployment{}).Owns(&corev1.Service{}).Complete(s)
}

func (s *site) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var cm corev1.ConfigMap
	if err := s.Get(ctx, req.NamespacedName, &cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	here := metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name}
	label := func(key string) (map[string]string, *metav1.LabelSelector, corev1.PodTemplateSpec) {
		labels := map[string]string{key: cm.Name}
		return labels, &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: cm.Data["image"]}}}}
	}
	d, svc := &appsv1.Deployment{ObjectMeta: here}, &corev1.Service{ObjectMeta: here}
	set, everywhere := &appsv1.StatefulSet{ObjectMeta: here}, &appsv1.DaemonSet{ObjectMeta: here}
	for _, part := range []struct {
		client.Object
		become func()
	}{
		{d, func() {
			d.Spec.Replicas = ptr.To(int32(2))
			_, d.Spec.Selector, d.Spec.Template = label("app")
		}},
		{set, func() {
			_, set.Spec.Selector, set.Spec.Template = label("set")
			if len(set.Spec.VolumeClaimTemplates) == 0 {
				set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{
					ObjectMeta: metav1.ObjectMeta{Name: "data"},
					Spec: corev1.PersistentVolumeClaimSpec{
						AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
						Resources: corev1.VolumeResourceRequirements{
							Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
					},
				}}
			}
		}},
		{everywhere, func() { _, everywhere.Spec.Selector, everywhere.Spec.Template = label("daemon") }},
		{svc, func() {
			svc.Spec.Selector, _, _ = label("app")
			svc.Spec.Type = corev1.ServiceTypeNodePort
			if len(svc.Spec.Ports) == 0 {
				svc.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
			}
		}},
	} {
		if _, err := controllerutil.CreateOrUpdate(ctx, s.Client, part.Object, func() error {
			part.become()
			return controllerutil.SetControllerReference(&cm, part.Object, s.Scheme())
		}); err != nil {
			return reconcile.Result{}, err
		}
	}
	address := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: cm.Namespace, Name: cm.Name + "-address"}}
	_, err := controllerutil.CreateOrUpdate(ctx, s.Client, address, func() error {
		address.Data = map[string]string{
			"inside":  "http://" + svc.Spec.ClusterIP + ":80/",
			"outside": fmt.Sprintf("http://node.example:%d/", svc.Spec.Ports[0].NodePort),
		}
		return nil
	})
	return reconcile.Result{}, err
}

// Addresses, ports and revisions that a cluster allocates differ from run to run, and so do copies
// of them. That is no trace of a crash.
func TestCrashSafeAllowsAllocatedValues(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		calm := w.Undisturbed()
		w.Builtin(workload.New()...)
		w.Builtin(kubelet.New(kubelet.Nodes("node-1", "node-2"))...)
		w.Start("site", func(mgr ctrl.Manager) error {
			return (&site{mgr.GetClient(), mgr.GetAPIReader()}).setup(mgr)
		})
		w.Inject(fault.StaleCache(30*time.Second), fault.Crash("site"), fault.LostReply(), fault.ServerError())
		w.Eventually("a fault leaves no trace", property.CrashSafe(calm))
		for _, name := range []string{"a", "b"} {
			w.Apply(simtest.Source(name, "image", "web:1"))
		}
		w.Settle()
		for _, image := range []string{"web:2", "web:3"} {
			w.Apply(simtest.Source("a", "image", image))
		}
		w.Remove(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}})
		w.Settle()
	}, sim.Runs(8), sim.For(0), sim.Verify(0))
}
