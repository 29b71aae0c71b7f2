// This file is what the operators of the bench have in common, so that each of them is only about
// its flaw.

package planted

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
)

// reconciler is what an ordinary reconciler has at hand. Its memory lives as long as its process.
type reconciler struct {
	client.Client // reads from the cache
	live          client.Reader
	http          *http.Client
	mgr           ctrl.Manager
	name          string // of the process
	fixed         bool
	memory        map[string]any
}

type (
	ctx     = context.Context
	request = reconcile.Request
	result  = reconcile.Result
)

// operator is a program with one controller.
type operator struct {
	work    func(*reconciler, ctx, request) (result, error)
	each    func(*reconciler, ctx, *corev1.ConfigMap) (result, error) // nil, or in place of work
	until   string                                                    // a key of its data that ends the work on it
	fresh   bool                                                      // each reads from the server
	watch   func(*builder.Builder) *builder.Builder                   // nil: ConfigMaps with the role "work"
	workers int
	warm    bool // the cache is filled before the lease is won
	lists   bool // informers list at resourceVersion=0 and watch then
	options ctrl.Options
}

// start adds the operator to the world as a process and lets it fill its caches, so that it lives
// through what the user does one by one and not as one initial list.
func (o operator) start(w *stage, name string, fixed bool) {
	o.options.Scheme = scheme
	options := []sim.ProcessOption{sim.Options(o.options)}
	if o.lists {
		options = append(options, sim.ListThenWatch())
	}
	w.Start(name, o.setup(name, fixed), options...)
	w.World.Sleep(time.Second)
}

// setup is the function that the operator ships.
func (o operator) setup(name string, fixed bool) func(ctrl.Manager) error {
	if o.each != nil {
		o.work = o.onEach
	}
	return func(mgr ctrl.Manager) error {
		g := &reconciler{Client: mgr.GetClient(), live: mgr.GetAPIReader(), http: sim.HTTPClient(mgr), mgr: mgr,
			name:  name,
			fixed: fixed, memory: map[string]any{}}
		if o.warm {
			if _, err := mgr.GetCache().GetInformer(context.Background(), &corev1.ConfigMap{},
				cache.BlockUntilSynced(false)); err != nil {
				return err
			}
		}
		b := ctrl.NewControllerManagedBy(mgr).Named(name)
		if o.watch == nil {
			b = b.For(&corev1.ConfigMap{}, role("work"))
		} else {
			b = o.watch(b)
		}
		return b.WithOptions(controller.Options{MaxConcurrentReconciles: max(o.workers, 1)}).
			Complete(reconcile.Func(func(c ctx, req request) (result, error) { return o.work(g, c, req) }))
	}
}

// onEach is the work on an object as the cache has it.
func (o operator) onEach(r *reconciler, c ctx, req request) (result, error) {
	var object corev1.ConfigMap
	var from client.Reader = r
	if o.fresh {
		from = r.live
	}
	if err := from.Get(c, req.NamespacedName, &object); err != nil || object.Data[o.until] != "" {
		return result{}, client.IgnoreNotFound(err)
	}
	return o.each(r, c, &object)
}

// role lets an operator see only the objects that are meant for it.
func role(r string) builder.Predicates {
	has := func(o client.Object) bool { return o.GetLabels()["role"] == r }
	return builder.WithPredicates(predicate.NewPredicateFuncs(has))
}

const ns = "default"

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: ns, Name: name} }

func cm(name string, data ...string) *corev1.ConfigMap {
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	for i := 0; i+1 < len(data); i += 2 {
		if o.Data == nil {
			o.Data = map[string]string{}
		}
		o.Data[data[i]] = data[i+1]
	}
	return o
}

// work is a ConfigMap that the operator of the scenario looks after.
func work(name string, data ...string) *corev1.ConfigMap {
	o := cm(name, data...)
	o.Labels = map[string]string{"role": "work"}
	return o
}

func secret(name string, data ...string) *corev1.Secret {
	o := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}}
	for i := 0; i+1 < len(data); i += 2 {
		if o.Data == nil {
			o.Data = map[string][]byte{}
		}
		o.Data[data[i]] = []byte(data[i+1])
	}
	return o
}

// child is a Secret that belongs to a parent by label.
func child(name, parent string, data ...string) *corev1.Secret {
	o := secret(name, data...)
	o.Labels = map[string]string{"parent": parent}
	return o
}

// generated is a child of a parent with a random name.
func generated(parent string) *corev1.Secret {
	o := child("", parent)
	o.GenerateName = parent + "-"
	return o
}

// children of a parent, as the reader sees them.
func children(c ctx, r client.Reader, parent string) ([]corev1.Secret, error) {
	var all corev1.SecretList
	err := r.List(c, &all, client.InNamespace(ns), client.MatchingLabels{"parent": parent})
	return all.Items, err
}

// get reads the ConfigMap that a request is about; nil when there is none.
func (r *reconciler) get(c ctx, req request) (*corev1.ConfigMap, error) {
	var o corev1.ConfigMap
	err := r.Get(c, req.NamespacedName, &o)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return &o, err
}

// reader is the cache for the flawed variant and the server for the fixed one.
func (r *reconciler) reader() client.Reader {
	if r.fixed {
		return r.live
	}
	return r.Client
}

// inOrder does one thing after the other. The fixed variant does the second one first.
func (r *reconciler) inOrder(first, second func() error) (result, error) {
	if r.fixed {
		first, second = second, first
	}
	if err := first(); err != nil {
		return result{}, err
	}
	return result{}, second()
}

// set writes one key of a ConfigMap's data, and leaves the others to others.
func (r *reconciler) set(c ctx, o *corev1.ConfigMap, k, v string) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"data":{%q:%q}}`, k, v))
	return r.Patch(c, o, patch)
}

// call sends a request to the outside. An answer of 300 and more is an error.
func (r *reconciler) call(c ctx, method, path, idempotency string) error {
	code, err := r.try(c, method, path, idempotency)
	if err == nil && code >= 300 {
		err = fmt.Errorf("%s %s is answered with %d", method, path, code)
	}
	return err
}

// closes closes an account, which may be closed already.
func (r *reconciler) closes(c ctx, name string) error {
	code, err := r.try(c, "DELETE", "/accounts/"+name, "")
	if err == nil && code >= 300 && code != http.StatusNotFound {
		err = errors.New("the account cannot be closed")
	}
	return err
}

// mail sends a mail about an object, and then notes that on the object.
func (r *reconciler) mail(c ctx, o *corev1.ConfigMap, idempotency string) (result, error) {
	if err := r.call(c, "POST", "/mail/"+o.Name, idempotency); err != nil {
		return result{}, err
	}
	return result{}, r.set(c, o, "sent", "yes")
}

// try is call for those who look at the code themselves.
func (r *reconciler) try(c ctx, method, path, idempotency string) (int, error) {
	req, err := http.NewRequestWithContext(c, method, "http://"+host+path, bytes.NewBufferString("{}"))
	if err != nil {
		return 0, err
	}
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// once is the idempotency key of the fixed variant; the flawed one sends none.
func (r *reconciler) once(k string) string {
	if r.fixed {
		return k
	}
	return ""
}

// patch is the user changing an object.
func patch(w *stage, o client.Object, body string) {
	if w.bare {
		return
	}
	if err := w.Client().Patch(w.Context(), o,
		client.RawPatch(types.MergePatchType, []byte(body))); client.IgnoreNotFound(err) != nil {
		panic(err)
	}
}
