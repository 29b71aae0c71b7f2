package world

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// polls asks the shop every 15 s until it answers, and then sets a key of the ConfigMap.
func polls(ctx context.Context, r *reconciling) {
	for ctx.Err() == nil {
		if empty, err := r.get(ctx); err == nil && !empty {
			if r.put(ctx, "made", "yes") == nil {
				return
			}
		}
		time.Sleep(15 * time.Second)
	}
}

// A goroutine next to the controllers polls an outside service. Its first request is sent while a
// reconcile is under way, and others only after the world has been quiet for seconds.
func TestSettleWaitsForAPollerBesideAReconcile(t *testing.T) {
	shop := func(w *World) {
		asked := 0
		w.External("shop.example", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			if asked++; asked > 20 {
				fmt.Fprint(rw, "ready")
			}
		}))
		w.Eventually("it is made", settled("made"))
	}
	for name, begin := range map[string]func(*World){
		"a runnable": func(w *World) {
			w.Apply(configMapA())
			w.Start("op", func(mgr ctrl.Manager) error {
				begin, r := make(chan bool, 1), &reconciling{mgr.(*process.Manager), configMapA()}
				if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
					<-begin
					polls(ctx, r)
					return nil
				})); err != nil {
					return err
				}
				return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).
					Complete(reconcile.Func(func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
						select {
						case begin <- true:
						default:
						}
						time.Sleep(time.Second)
						return ctrl.Result{}, nil
					}))
			}, ProcessOptions{})
		},
		"a goroutine that a reconcile began": func(w *World) {
			begun := false
			reconciles(w, ctrl.Options{}, func(ctx context.Context, r *reconciling) (ctrl.Result, error) {
				if !begun {
					begun = true
					go func() {
						time.Sleep(100 * time.Millisecond)
						polls(ctx, &reconciling{r.mgr, r.cm.DeepCopy()})
					}()
				}
				time.Sleep(time.Second)
				return ctrl.Result{}, nil
			})
			w.Apply(configMapA())
		},
	} {
		t.Run(name, func(t *testing.T) {
			mustHold(t, func(w *World) {
				shop(w)
				begin(w)
				w.Settle()
			})
		})
	}
}

// hourly is an operator that polls each Deployment every minute, and writes it every hour.
type hourly struct {
	priority bool // of its two queues, the priority queue
	status   bool // it writes the status
	objects  int
}

func (h hourly) play(w *World) {
	o := ctrl.Options{}
	o.Controller.UsePriorityQueue = &h.priority
	w.Start("op", func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("op").For(&appsv1.Deployment{}).
			Complete(reconcile.Func(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
				return ctrl.Result{RequeueAfter: time.Minute}, h.write(ctx, mgr.GetClient(), req)
			}))
	}, ProcessOptions{Manager: o})
	for i := range h.objects {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("d", i)}}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}
		d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "c"}}
		w.Apply(d)
	}
	for range 3 {
		begun := w.sched.Now()
		w.Settle()
		if took := w.sched.Now() - begun; took > faultPhaseTime+4*time.Minute {
			panic(fmt.Sprintf("settled after %v", took))
		}
		w.Sleep(53 * time.Minute)
	}
}

func (h hourly) write(ctx context.Context, cl client.Client, req ctrl.Request) error {
	var d appsv1.Deployment
	if err := cl.Get(ctx, req.NamespacedName, &d); err != nil {
		return client.IgnoreNotFound(err)
	}
	now := time.Now()
	if h.status {
		if c := d.Status.Conditions; len(c) > 0 && now.Sub(c[0].LastUpdateTime.Time) < time.Hour {
			return nil
		}
		d.Status.Conditions = []appsv1.DeploymentCondition{
			{Type: "Seen", Status: "True", LastUpdateTime: metav1.NewTime(now)}}
		return cl.Status().Update(ctx, &d)
	}
	if at, _ := time.Parse(time.RFC3339, d.Spec.Template.Annotations["at"]); now.Sub(at) < time.Hour {
		return nil
	}
	d.Spec.Template.Annotations = map[string]string{"at": now.Format(time.RFC3339)}
	return cl.Update(ctx, &d)
}

// A program that polls every minute and writes every hour settles between two writes, whatever its
// queue, however many its objects, and whatever it writes.
func TestSettleTreatsQueuesAlike(t *testing.T) {
	for _, h := range []hourly{{objects: 1}, {objects: 5}, {status: true, objects: 1}, {status: true, objects: 5}} {
		for _, h.priority = range []bool{false, true} {
			t.Run(fmt.Sprintf("%+v", h), func(t *testing.T) {
				mustHold(t, h.play)
				if e, _ := ends(t, choice.NewRandom(1), 50000, h.play); e.Failed() {
					t.Error(e.Sentence())
				}
			})
		}
	}
}

// gate is an operator that admits every pod, and without which none is created. It has no
// controller.
func gate(mgr ctrl.Manager) error {
	mgr.GetWebhookServer().Register("/pods", &webhook.Admission{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })})
	return nil
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{Name: "work", Image: "work:1"}}}
}

// gated is the configuration of the gate's webhook, which is fail-closed.
func gated() client.Object {
	none, fail, path := admissionregv1.SideEffectClassNone, admissionregv1.Fail, "/pods"
	return &admissionregv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "gate"},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name: "gate.example.org", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregv1.WebhookClientConfig{
				Service: &admissionregv1.ServiceReference{Namespace: "default", Name: "gate", Path: &path},
			},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Create},
				Rule: admissionregv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
					Resources: []string{"pods"}},
			}},
		}},
	}
}

// late makes something for each ConfigMap that has existed for 100 s.
type late struct {
	client.Client
	made func(name string) client.Object
}

func (l *late) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var cm corev1.ConfigMap
	if err := l.Get(ctx, req.NamespacedName, &cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if left := time.Until(cm.CreationTimestamp.Add(100 * time.Second)); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	return ctrl.Result{}, client.IgnoreAlreadyExists(l.Create(ctx, l.made(req.Name)))
}

func makeJob(name string) client.Object {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	job.Spec.Template.Spec = podSpec()
	return job
}

func makePod(name string) client.Object {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: podSpec()}
}

// killFor ends gate often enough that it is down for five minutes after the last time, which is a
// minute from now.
func killFor(w *World) {
	for range 5 {
		w.procs.Find("gate").Current().Kill()
		for w.procs.Find("gate").Current() == nil {
			w.Sleep(time.Second)
		}
	}
	w.sched.Park(&sched.Action{
		Order: "kill gate", What: func() string { return "the end of gate" },
		Delay: func() time.Duration { return time.Minute },
		Do:    func() { w.procs.Find("gate").Current().Kill() },
	})
}

// A program that serves a fail-closed webhook is down when the faults end, and starts minutes
// later. What was refused meanwhile is tried again before the world counts as settled: by a
// built-in controller, and by another process.
func TestSettleWaitsForWhatAStartLetsSucceed(t *testing.T) {
	for name, made := range map[string]func(string) client.Object{"a built-in controller": makeJob,
		"another process": makePod} {
		t.Run(name, func(t *testing.T) {
			pass(t, func(w *World) {
				w.Builtin(kubelet.New()...)
				w.Builtin(workload.New()...)
				w.Apply(gated())
				w.Start("gate", gate, ProcessOptions{})
				w.Start("late", func(mgr ctrl.Manager) error {
					late := &late{mgr.GetClient(), made}
					return ctrl.NewControllerManagedBy(mgr).Named("late").For(&corev1.ConfigMap{}).Complete(late)
				}, ProcessOptions{})
				killFor(w)
				w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
				w.Settle()
				if refusals(w.History()) == 0 {
					t.Error("no pod was refused, so the test shows nothing")
				}
				if n := len(w.History().Objects("", "Pod")); n != 1 {
					t.Errorf("the world has settled with %d pods; expected 1, which was refused before gate started", n)
				}
			}, 20)
		})
	}
}

// refusals is how many pods a webhook that no process served kept from being created.
func refusals(h *history.History) (n int) {
	for _, e := range h.Events {
		if e.Kind == history.Request && e.Ref.Kind == "Pod" && e.Code >= 500 {
			n++
		}
	}
	return n
}
