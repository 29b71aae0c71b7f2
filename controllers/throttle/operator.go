// This file is the program: it starts, watches, has a worker for each object, and ends. A worker
// knows only the newest event of its object.

package throttle

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// Examples is the kind that the operator serves.
var Examples = schema.GroupVersionResource{Group: "kopf.dev", Version: "v1", Resource: "kopfexamples"}

// Timing of the framework; the original's.
const (
	reopen = 100 * time.Millisecond // before a watch that has ended is opened again
	batch  = 100 * time.Millisecond // for which events of an object are gathered; only the newest counts
)

// Operator is a program that calls handlers for every object of its kind.
type Operator struct {
	Variant  Variant
	Handlers []Handler
	// Workers is how many objects are looked after at a time; 0 for any number.
	Workers int
}

// Run is the operator's main. It returns when ctx is done, or with the error for which the process
// must end.
func (o *Operator) Run(ctx context.Context, config *rest.Config) error {
	policy, err := o.Variant.policy()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	alive, die := context.WithCancelCause(ctx)
	k := &keeper{Operator: o, policy: policy, client: client, die: die, objects: map[types.UID]*object{}}
	k.all.Go(func() { k.watch(alive) })
	k.all.Wait()
	if cause := context.Cause(alive); !errors.Is(cause, context.Cause(ctx)) {
		return cause
	}
	return nil
}

// keeper is one incarnation of the operator.
type keeper struct {
	*Operator
	policy policy
	client dynamic.Interface
	die    context.CancelCauseFunc // has the process end; only the first error counts
	all    sync.WaitGroup          // goroutines

	mu      sync.Mutex // guards what follows, and the objects; never held over a call
	objects map[types.UID]*object
	running int
	waiting []*object // for a worker, in the order in which they came
}

// object is what the operator remembers of one, as long as the incarnation lasts and the object
// exists.
type object struct {
	events chan *unstructured.Unstructured // the newest that no worker has seen, if any
	queued bool                            // has a worker or waits for one
	// failures in a row, until when they delay the object, and with which generation of it the last
	// one came.
	failures int
	until    time.Time
	failed   int64
	cancel   context.CancelFunc // stops retries of the object
	// conflicts since something has succeeded, and outcomes that are not written down yet, by
	// handler. Only the object's worker looks at them.
	conflicts int
	kept      map[string]*Record
}

// take returns the newest event that no worker has seen; nil if there is none.
func (o *object) take() (body *unstructured.Unstructured) {
	select {
	case body = <-o.events:
	default:
	}
	return body
}

// watch lists and watches forever. A watch that ends, or is too old, is followed by another full
// list. Any other error ends the process, because a watcher is a root task.
func (k *keeper) watch(ctx context.Context) {
	for ctx.Err() == nil {
		err := k.patiently(func() error { return k.listAndWatch(ctx) })
		if err != nil && !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			k.policy.watched(k, err)
		}
		pause(ctx, reopen)
	}
}

// stopWatching ends the process: without its watch it would miss every change.
func (k *keeper) stopWatching(err error) { k.die(fmt.Errorf("watching: %w", err)) }

func (k *keeper) listAndWatch(ctx context.Context) error {
	examples := k.client.Resource(Examples)
	list, err := examples.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	k.mu.Lock()
	missing := maps.Clone(k.objects)
	k.mu.Unlock()
	for i := range list.Items {
		delete(missing, list.Items[i].GetUID())
		k.event(ctx, &list.Items[i])
	}
	for uid := range missing {
		if k.policy.fixed { // the last watch may have ended without a word of the object's end
			k.forget(uid)
		}
	}
	w, err := examples.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		switch e.Type {
		case watch.Added, watch.Modified:
			k.event(ctx, e.Object.(*unstructured.Unstructured))
		case watch.Deleted:
			k.forget(e.Object.(*unstructured.Unstructured).GetUID())
		case watch.Error:
			return apierrors.FromObject(e.Object)
		}
	}
	return nil
}

func (k *keeper) event(ctx context.Context, body *unstructured.Unstructured) {
	k.mu.Lock()
	defer k.mu.Unlock()
	o := k.objects[body.GetUID()]
	if o == nil {
		o = &object{events: make(chan *unstructured.Unstructured, 1), cancel: func() {}, kept: map[string]*Record{},
			failures: failuresSaid(body)}
		k.objects[body.GetUID()] = o
	}
	k.handOut(ctx, o, body)
}

// handOut gives what is newest of an object to its worker, or to one to come. What came before it
// and was not looked at is forgotten. k.mu is held.
func (k *keeper) handOut(ctx context.Context, o *object, body *unstructured.Unstructured) {
	o.take()
	o.events <- body
	if !o.queued {
		o.queued = true
		k.waiting = append(k.waiting, o)
		k.hire(ctx)
	}
}

// hire starts workers for those who wait, as far as the cap allows. k.mu is held.
func (k *keeper) hire(ctx context.Context) {
	for len(k.waiting) > 0 && (k.Workers == 0 || k.running < k.Workers) {
		o := k.waiting[0]
		k.waiting = k.waiting[1:]
		k.running++
		k.all.Go(func() { k.work(ctx, o) })
	}
}

// forget stops all retries of an object.
func (k *keeper) forget(uid types.UID) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if o := k.objects[uid]; o != nil {
		o.cancel()
		o.take()
		delete(k.objects, uid)
	}
}

// work is what a worker does: it gathers the events that follow one closely, and looks at the
// newest. Then it makes room for those who wait.
func (k *keeper) work(ctx context.Context, o *object) {
	for again := true; again && pause(ctx, batch); again = k.policy.linger(k, ctx, o) {
		if body := o.take(); body != nil && k.policy.due(k, ctx, o, body) {
			k.look(ctx, o, body)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running--
	o.queued = false
	if body := o.take(); body != nil && ctx.Err() == nil {
		k.handOut(ctx, o, body)
	}
	k.hire(ctx)
}

func (k *keeper) look(ctx context.Context, o *object, body *unstructured.Unstructured) {
	switch wait, err := k.process(ctx, o, body); {
	case err == nil:
		k.mu.Lock()
		o.cancel()
		o.failures, o.conflicts, o.until = 0, 0, time.Time{} // the next failure is the first
		k.mu.Unlock()
		if wait > 0 {
			k.policy.wait(k, ctx, o, body, wait)
		}
	case ctx.Err() == nil:
		k.policy.after(k, ctx, o, body, err)
	}
}

// pause sleeps, and reports false if ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Children is what [Provision] makes, and labels that say of what.
var Children = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// The labels of a child.
const (
	ParentLabel = Domain + "/parent" // the object's UID
	ChangeLabel = Domain + "/change" // its generation
	SerialLabel = Domain + "/serial" // of the handler, as Provision was given
)

// Provision makes a child of the object, and shows in the object's status that it is there: the
// latter if echo.
func Provision(serial int, echo bool) func(context.Context, Task) (any, error) {
	return func(ctx context.Context, t Task) (any, error) {
		meta := map[string]any{
			"labels": map[string]any{
				ParentLabel: string(t.Object.GetUID()),
				ChangeLabel: strconv.FormatInt(t.Object.GetGeneration(), 10),
				SerialLabel: strconv.Itoa(serial),
			},
		}
		if t.Token == "" {
			meta["generateName"] = t.Object.GetName() + "-"
		} else {
			meta["name"] = t.Object.GetName() + "-" + t.Token
		}
		child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": meta}}
		made, err := t.Client.Resource(Children).Namespace(t.Object.GetNamespace()).Create(ctx, child,
			metav1.CreateOptions{})
		switch {
		case t.Token != "" && apierrors.IsAlreadyExists(err):
			made = child
		case err != nil:
			return nil, err
		}
		if echo && !t.Mute {
			state := fmt.Appendf(nil, `{"status":{"child":%q}}`, made.GetName())
			_, err := t.Client.Resource(Examples).Namespace(t.Object.GetNamespace()).
				Patch(ctx, t.Object.GetName(), types.MergePatchType, state, metav1.PatchOptions{}, "status")
			if err != nil && !apierrors.IsNotFound(err) {
				return nil, err
			}
		}
		return made.GetName(), nil
	}
}

//go:embed crds/kopfexamples.yaml
var crdFile []byte

// CRD returns the kind that the operator serves. Every call returns a fresh copy.
func CRD() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(crdFile, crd); err != nil {
		panic(fmt.Sprintf("throttle: the embedded crds/kopfexamples.yaml is not a CustomResourceDefinition: %v", err))
	}
	return crd
}
