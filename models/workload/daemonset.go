package workload

import (
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// nodes makes all DaemonSets look when nodes come and go, and when one gets other labels
// (daemon_controller.go, shouldIgnoreNodeUpdate).
func nodes(c *controller, ch apiserver.Change) []string {
	if ch.Kind != "Node" || ch.Type == "MODIFIED" && !relabelled(ch) {
		return nil
	}
	return c.keys("apps", "v1", "daemonsets", "")
}

// keys are the objects of a collection.
func (c *controller) keys(group, version, resource, namespace string) []string {
	found, _ := actor.List[metav1.PartialObjectMetadata](c, actor.Path(group, version, namespace, resource, ""))
	var out []string
	for _, o := range found {
		out = append(out, o.Namespace+"/"+o.Name)
	}
	return out
}

// fleet is a DaemonSet and its pods, at one look.
type fleet struct {
	*controller
	ds     *appsv1.DaemonSet
	on     map[string]*corev1.Pod // by node
	hash   string                 // of the present template
	status appsv1.DaemonSetStatus
	// sick and stale are the pods of earlier templates, by whether they are available.
	sick, stale []*corev1.Pod
	wait        time.Duration
	failed      error // why a pod could not be made or deleted
}

// syncDaemonSet follows pkg/controller/daemon/daemon_controller.go and update.go: a pod for each
// node that matches the template's node selector, bound to it. Taints are not looked at.
func syncDaemonSet(c *controller, namespace, name string) (time.Duration, error) {
	path := actor.Path("apps", "v1", namespace, "daemonsets", name)
	f := &fleet{controller: c, ds: read[appsv1.DaemonSet](c, path), on: map[string]*corev1.Pod{}}
	if f.ds == nil || f.ds.DeletionTimestamp != nil { // of one that goes not even the status is kept
		return 0, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(f.ds.Spec.Selector)
	if err != nil {
		return 0, nil
	}
	pods, wrote, err := claim(c, f.ds, f.ref(), selector)
	if wrote || err != nil {
		return 0, err
	}
	f.hash = hash(f.ds.Spec.Template)
	f.status = appsv1.DaemonSetStatus{ObservedGeneration: f.ds.Generation, CollisionCount: f.ds.Status.CollisionCount,
		Conditions: f.ds.Status.Conditions}
	for i := range pods {
		if p := &pods[i]; p.DeletionTimestamp == nil || p.Status.Phase != corev1.PodSucceeded &&
			p.Status.Phase != corev1.PodFailed {
			// A finished pod with a deletion timestamp is only held by a finalizer
			// (getNodesToDaemonPods).
			f.on[p.Spec.NodeName] = p
		}
	}
	all, err := actor.List[corev1.Node](c, actor.Path("", "v1", "", "nodes", ""))
	if err != nil {
		return 0, err
	}
	for i := range all {
		if wrote, err := f.node(&all[i]); err != nil {
			f.failed = err
		} else if wrote {
			return 0, nil
		}
	}
	for i := range pods { // whose node has gone
		if p := &pods[i]; f.on[p.Spec.NodeName] != nil && f.removable(p) {
			if f.failed = remove(c, p); f.failed == nil {
				return 0, nil
			}
		}
	}
	f.status.NumberUnavailable = f.status.DesiredNumberScheduled - f.status.NumberAvailable
	if f.failed == nil {
		var wrote bool
		if wrote, f.failed = f.roll(); wrote && f.failed == nil {
			return 0, nil
		}
	}
	if reflect.DeepEqual(f.status, f.ds.Status) {
		return f.wait, f.failed
	}
	f.ds.Status = f.status
	return f.wait, errors.Join(f.failed, actor.Do(c, http.MethodPut, path+"/status", f.ds, nil))
}

func (f *fleet) ref() metav1.OwnerReference {
	return *metav1.NewControllerRef(f.ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
}

func (f *fleet) removable(p *corev1.Pod) bool { return p.DeletionTimestamp == nil && f.failed == nil }

// node sees to the pod of one node, and counts it. After something has failed it only counts, for
// the status (syncDaemonSet updates it whatever manage said).
func (f *fleet) node(n *corev1.Node) (bool, error) {
	p := f.on[n.Name]
	delete(f.on, n.Name)
	if !fits(&f.ds.Spec.Template.Spec, n) {
		if p != nil && f.removable(p) {
			return true, remove(f.controller, p)
		}
		return false, nil
	}
	f.status.DesiredNumberScheduled++
	switch {
	case p == nil && f.failed == nil:
		p = podOf(f.ds.Namespace, &f.ds.Spec.Template, f.ref())
		p.GenerateName, p.Spec.NodeName = f.ds.Name+"-", n.Name
		p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = f.hash
		p.Labels["pod-template-generation"] = strconv.FormatInt(f.ds.Generation, 10)
		return true, create(f.controller, p)
	case p == nil:
		return false, nil
	case (p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded) && f.removable(p):
		return true, remove(f.controller, p)
	}
	f.status.CurrentNumberScheduled++
	up := false
	if ready(p) && p.DeletionTimestamp == nil {
		f.status.NumberReady++
		ok, left := available(f.controller, p, f.ds.Spec.MinReadySeconds)
		if up = ok; ok {
			f.status.NumberAvailable++
		}
		f.wait = soonest(f.wait, left)
	}
	switch {
	case p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == f.hash:
		f.status.UpdatedNumberScheduled++
	case up:
		f.stale = append(f.stale, p)
	case f.removable(p):
		f.sick = append(f.sick, p)
	}
	return false, nil
}

// roll replaces a pod of an earlier template: first those that are not available, whatever the rest
// does, then others, as long as enough are available (update.go, rollingUpdate).
func (f *fleet) roll() (bool, error) {
	u := f.ds.Spec.UpdateStrategy.RollingUpdate
	switch {
	case u == nil:
		return false, nil
	case len(f.sick) > 0:
		return true, remove(f.controller, f.sick[0])
	case len(f.stale) == 0:
		return false, nil
	}
	spare, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, int(f.status.DesiredNumberScheduled), true)
	if spare == 0 && u.MaxSurge != nil {
		spare, _ = intstr.GetScaledValueFromIntOrPercent(u.MaxSurge, int(f.status.DesiredNumberScheduled), true)
	}
	if int(f.status.NumberUnavailable) >= spare {
		return false, nil
	}
	return true, remove(f.controller, f.stale[0])
}

// fits reports whether a pod of the template may run on a node.
func fits(spec *corev1.PodSpec, n *corev1.Node) bool {
	for k, v := range spec.NodeSelector {
		if n.Labels[k] != v {
			return false
		}
	}
	return spec.NodeName == "" || spec.NodeName == n.Name
}
