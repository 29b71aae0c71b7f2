package endurance

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

// room is a namespace and the controller that looks after the ConfigMaps in it.
type room struct {
	name     string
	kind     kind
	replicas int
}

// rooms are two of each kind of controller; one controller has two replicas that elect.
func rooms() (out []room) {
	for _, k := range []kind{stamps{}, owners{}, mails{}, guards{}, clocks{}} {
		plural := strings.TrimPrefix(fmt.Sprintf("%T", k), "endurance.")
		for i := range 2 {
			r := room{fmt.Sprintf("%s-%d", plural, i), k, 1}
			if r.name == "stamps-1" {
				r.replicas = 2
			}
			out = append(out, r)
		}
	}
	return out
}

// processes are the names of the room's replicas.
func (r room) processes() []string {
	if r.replicas == 1 {
		return []string{r.name}
	}
	return []string{r.name + "a", r.name + "b"}
}

func inNamespace(name string) map[string]cache.Config { return map[string]cache.Config{name: {}} }

// setup is the operator's SetupWithManager.
func (r room) setup(process string) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		mgr.GetWebhookServer().Register("/see", &webhook.Admission{Handler: admission.HandlerFunc(
			func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })})
		b := ctrl.NewControllerManagedBy(mgr).Named(process).For(&corev1.ConfigMap{})
		if _, ok := r.kind.(owners); ok {
			b = b.Owns(&corev1.Secret{})
		}
		reader := &worker{mgr.GetClient(), sim.HTTPClient(mgr)}
		return b.Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var o corev1.ConfigMap
			if err := reader.Get(ctx, req.NamespacedName, &o); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			return r.kind.reconcile(ctx, reader, &o)
		}))
	}
}

// worker is what a reconciler has at hand.
type worker struct {
	client.Client
	http *http.Client
}

// kind is a kind of controller.
type kind interface {
	reconcile(context.Context, *worker, *corev1.ConfigMap) (reconcile.Result, error)
	// did reports whether the work on an object has been done.
	did(*history.History, *corev1.ConfigMap) bool
}

const done = "soak.example/done"

func did(o *corev1.ConfigMap) bool { return o.Annotations[done] == o.Data["want"] }

// stamps copies what is wanted into an annotation.
type stamps struct{}

func (stamps) did(_ *history.History, o *corev1.ConfigMap) bool { return did(o) }

func (stamps) reconcile(ctx context.Context, c *worker, o *corev1.ConfigMap) (reconcile.Result, error) {
	if did(o) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, c.Patch(ctx, o, annotate(done, o.Data["want"], nil))
}

// owners keeps a Secret for each object.
type owners struct{}

func (owners) did(h *history.History, o *corev1.ConfigMap) bool {
	var s corev1.Secret
	found, ok := h.Object("", "Secret", o.Namespace, o.Name)
	return ok && found.Into(&s) == nil && string(s.Data["want"]) == o.Data["want"]
}

func (owners) reconcile(ctx context.Context, c *worker, o *corev1.ConfigMap) (reconcile.Result, error) {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, c, s, func() error {
		s.Data = map[string][]byte{"want": []byte(o.Data["want"])}
		return controllerutil.SetControllerReference(o, s, c.Scheme())
	})
	return reconcile.Result{}, err
}

// mails notifies an outside host, and records that.
type mails struct{}

func (mails) did(_ *history.History, o *corev1.ConfigMap) bool { return did(o) }

func (mails) reconcile(ctx context.Context, c *worker, o *corev1.ConfigMap) (reconcile.Result, error) {
	if did(o) {
		return reconcile.Result{}, nil
	}
	if err := c.tell(ctx, o); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, c.Patch(ctx, o, annotate(done, o.Data["want"], nil))
}

func (w *worker) tell(ctx context.Context, o *corev1.ConfigMap) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+host+"/mail/"+o.Namespace+"/"+o.Name,
		strings.NewReader(o.Data["want"]))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", string(o.UID)+o.Data["want"])
	resp, err := w.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("the office answers with %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// guards holds each object with a finalizer, and notifies an outside host before it removes it.
type guards struct{}

const finalizer = "soak.example/guarded"

func (guards) did(_ *history.History, o *corev1.ConfigMap) bool {
	return did(o) && o.DeletionTimestamp == nil && controllerutil.ContainsFinalizer(o, finalizer)
}

func (guards) reconcile(ctx context.Context, c *worker, o *corev1.ConfigMap) (reconcile.Result, error) {
	if o.DeletionTimestamp != nil {
		if !controllerutil.ContainsFinalizer(o, finalizer) {
			return reconcile.Result{}, nil
		}
		if err := c.tell(ctx, o); err != nil {
			return reconcile.Result{}, err
		}
		err := c.Patch(ctx, o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if did(o) && controllerutil.ContainsFinalizer(o, finalizer) {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{}, c.Patch(ctx, o, annotate(done, o.Data["want"], []string{finalizer}))
}

// clocks looks at each object again every twenty minutes, and writes with a lock.
type clocks struct{}

func (clocks) did(_ *history.History, o *corev1.ConfigMap) bool { return did(o) }

func (clocks) reconcile(ctx context.Context, c *worker, o *corev1.ConfigMap) (reconcile.Result, error) {
	again := reconcile.Result{RequeueAfter: 20 * time.Minute}
	if did(o) {
		return again, nil
	}
	o = o.DeepCopy()
	metav1.SetMetaDataAnnotation(&o.ObjectMeta, done, o.Data["want"])
	err := c.Update(ctx, o)
	if apierrors.IsConflict(err) {
		return reconcile.Result{RequeueAfter: time.Second}, nil
	}
	return again, err
}

// office is the world outside: it takes mails, each once.
type office struct{ seen map[string]bool }

// ServeHTTP implements http.Handler.
func (o *office) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	if k := r.Header.Get("Idempotency-Key"); !o.seen[k] {
		o.seen[k] = true
		history.AddEffect(r.Context(), history.Effect{Kind: "mail", Key: r.URL.Path})
	}
}
