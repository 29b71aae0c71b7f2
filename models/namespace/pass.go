package namespace

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/wavetank/wavetank/models/actor"
)

// byFinalizers is how many seconds finalizers are expected to take (finalizerEstimateSeconds).
const byFinalizers = 15

// pass is one attempt to empty a namespace. It goes from step to step; between any two of them
// anything may happen.
type pass struct {
	*controller
	name string
	work *work

	namespace *corev1.Namespace // as it was when the pass began
	left      []actor.Resource  // types that have not had their turn
	estimate  int64             // seconds that the slowest type is expected to take
	failures  []error           // what makes the pass fail
	found     findings
}

// item is what the controller sees of an object. It names no more than is looked at, because
// content that is held for long is listed again and again.
type item struct {
	Metadata struct {
		Name       string   `json:"name"`
		Finalizers []string `json:"finalizers"`
	} `json:"metadata"`
	Spec struct {
		TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds"`
	} `json:"spec"`
	Status struct {
		Phase corev1.PodPhase `json:"phase"`
	} `json:"status"`
}

func (p *pass) path() string { return actor.Path("", "v1", "", "namespaces", p.name) }

// begin looks at the namespace and finds the types that have objects in it.
func (p *pass) begin() {
	p.namespace = &corev1.Namespace{}
	if !actor.Get(p.cluster, p.path(), p.namespace) || p.namespace.DeletionTimestamp == nil ||
		len(p.namespace.Spec.Finalizers) == 0 {
		p.finished()
		return
	}
	failing := p.discoveryFailure()
	if p.types == nil {
		p.types = actor.Resources(p.cluster)
	}
	for _, r := range p.types {
		id := schema.GroupResource{Group: r.Group, Resource: r.Name}
		if p.work.empty[id] || !r.Namespaced || !slices.Contains(r.Verbs, "delete") ||
			failing[schema.GroupVersion{Group: r.Group, Version: r.Version}] != nil {
			continue
		}
		if items, err := list[struct{}](p, r); err != nil || len(items) > 0 {
			p.left = append(p.left, r)
		} else {
			p.work.empty[id] = true
		}
	}
	p.step()
}

// discoveryFailure is what discovery cannot find out; it is no reason to leave the rest alone.
func (p *pass) discoveryFailure() map[schema.GroupVersion]error {
	if p.undiscovered == nil {
		return nil
	}
	failing := map[schema.GroupVersion]error{}
	for _, gv := range p.undiscovered(p.cluster.Now()) {
		failing[gv] = fmt.Errorf("stale GroupVersion discovery: %v", gv)
	}
	if len(failing) > 0 {
		err := &discovery.ErrGroupDiscoveryFailed{Groups: failing}
		p.failures = append(p.failures, err)
		p.found.discovery = fmt.Sprintf("Discovery failed for some groups, %d failing: %v", len(failing), err)
	}
	return failing
}

// step deletes the next type, or ends the pass when there is none.
func (p *pass) step() {
	if len(p.left) == 0 {
		p.found.complete = true
		p.report()
		return
	}
	i := p.turn()
	r := p.left[i]
	p.left = slices.Delete(p.left, i, i+1)
	p.empty(r)
}

// turn is whose turn it is among the types that are left.
func (p *pass) turn() int {
	if i := slices.IndexFunc(p.left, isPods); i >= 0 && !p.anyOrder {
		return i
	}
	for _, first := range p.order {
		if i := slices.IndexFunc(p.left,
			func(r actor.Resource) bool { return strings.TrimSuffix(r.Name+"."+r.Group, ".") == first }); i >= 0 {
			return i
		}
	}
	if len(p.left) == 1 {
		return 0
	}
	return p.cluster.Choose("next type deleted with namespace "+p.name, len(p.left))
}

func isPods(r actor.Resource) bool { return r.Group == "" && r.Name == "pods" }

// empty deletes all objects of a type, then continues with check.
func (p *pass) empty(r actor.Resource) {
	estimate, err := p.graceful(r)
	if err != nil {
		p.judge(r, 0, err)
		return
	}
	if slices.Contains(r.Verbs, "deletecollection") {
		err := actor.Do(p.cluster, http.MethodDelete, actor.Path(r.Group, r.Version, p.name, r.Name, ""), inBackground,
			nil)
		if !unsupported(err) {
			p.judge(r, estimate, err)
			return
		}
	}
	items, err := list[item](p, r)
	if err != nil {
		p.judge(r, estimate, err)
		return
	}
	p.each(r, estimate, items)
}

// inBackground keeps the type's own default of orphaning out of it.
var inBackground = &metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}

// each deletes objects one by one.
func (p *pass) each(r actor.Resource, estimate int64, items []item) {
	if len(items) == 0 {
		p.judge(r, estimate, nil)
		return
	}
	err := actor.Do(p.cluster, http.MethodDelete,
		actor.Path(r.Group, r.Version, p.name, r.Name, items[0].Metadata.Name), inBackground, nil)
	if err != nil && !unsupported(err) {
		p.judge(r, estimate, err)
		return
	}
	p.next(func() { p.each(r, estimate, items[1:]) })
}

// unsupported says that the type, the verb or the object is not there: nothing to be done.
func unsupported(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsMethodNotSupported(err)
}

// graceful is how many seconds the pods of the namespace are expected to take; none when that time
// is over.
func (p *pass) graceful(r actor.Resource) (int64, error) {
	if !isPods(r) {
		return 0, nil
	}
	items, err := list[item](p, r)
	if err != nil {
		return 0, err
	}
	var longest int64
	for _, pod := range items {
		if s := pod.Spec.TerminationGracePeriodSeconds; s != nil && pod.Status.Phase != corev1.PodSucceeded &&
			pod.Status.Phase != corev1.PodFailed {
			longest = max(longest, *s)
		}
	}
	if p.cluster.Clock().Sub(p.namespace.DeletionTimestamp.Time) >= time.Duration(longest)*time.Second {
		return 0, nil
	}
	return longest, nil
}

// judge asks for the step in which the outcome of a type is looked at. err is why it could not be
// deleted.
func (p *pass) judge(r actor.Resource, estimate int64, err error) {
	p.next(func() { p.check(r, estimate, err) })
}

// check notes the remaining objects of a type and continues with the next type, unless this one is
// pods.
func (p *pass) check(r actor.Resource, estimate int64, failure error) {
	var items []item
	if failure == nil {
		items, failure = list[item](p, r)
	}
	held := p.found.note(r, items)
	switch {
	case failure != nil || len(items) == 0 || estimate > 0:
	case held:
		estimate = byFinalizers
	default:
		failure = fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %v", p.name,
			schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Name})
	}
	if failure != nil {
		p.failures = append(p.failures, failure)
		p.found.content = append(p.found.content, failure.Error())
	}
	if len(items) > 0 {
		p.estimate = max(p.estimate, estimate)
	}
	if isPods(r) && !p.anyOrder && len(items) > 0 {
		p.report()
		return
	}
	p.step()
}

// list is what there is of a type; a type that is not served has nothing.
func list[T any](p *pass, r actor.Resource) ([]T, error) {
	if !slices.Contains(r.Verbs, "list") {
		return nil, nil
	}
	items, err := actor.List[T](p.cluster, actor.Path(r.Group, r.Version, p.name, r.Name, ""))
	if unsupported(err) {
		return nil, nil
	}
	return items, err
}

// report writes the conditions, if they have changed, and ends the pass: the namespace goes, or
// another pass comes. A conflict with another writer is not repeated.
func (p *pass) report() {
	if p.found.update(&p.namespace.Status, metav1.NewTime(p.cluster.Clock())) {
		_ = actor.Do(p.cluster, http.MethodPut, p.path()+"/status", p.namespace, nil)
		p.next(p.conclude)
		return
	}
	p.conclude()
}

func (p *pass) conclude() {
	switch {
	case len(p.failures) > 0:
		p.failed()
	case p.estimate > 0:
		p.remaining(p.estimate)
	default:
		p.finalize()
	}
}

// finalize takes the controller's finalizer off the namespace as it is now, if it is still the
// same.
func (p *pass) finalize() {
	now := &corev1.Namespace{}
	if !actor.Get(p.cluster, p.path(), now) {
		p.finished()
		return
	}
	if now.UID != p.namespace.UID {
		p.failed()
		return
	}
	now.Spec.Finalizers = slices.DeleteFunc(now.Spec.Finalizers,
		func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
	if err := actor.Do(p.cluster, http.MethodPut, p.path()+"/finalize", now, nil); err != nil &&
		!apierrors.IsNotFound(err) {
		p.failed()
		return
	}
	p.finished()
}
