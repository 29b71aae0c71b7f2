package workload

import (
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

// nodes makes all DaemonSets look when nodes come and go.
func nodes(c *controller, ch apiserver.Change) []string {
	if ch.Kind != "Node" || ch.Type == "MODIFIED" {
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

// syncDaemonSet follows pkg/controller/daemon/daemon_controller.go and update.go: a pod for each node that matches the
// template's node selector, bound to it. Taints are not looked at.
func syncDaemonSet(c *controller, namespace, name string) (time.Duration, error) {
	path := actor.Path("apps", "v1", namespace, "daemonsets", name)
	ds := read[appsv1.DaemonSet](c, path)
	if ds == nil {
		return 0, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(ds.Spec.Selector)
	if err != nil {
		return 0, nil
	}
	ref := *metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	pods, wrote, err := claim(c, ds, ref, selector)
	if wrote || err != nil {
		return 0, err
	}
	all, err := actor.List[corev1.Node](c, actor.Path("", "v1", "", "nodes", ""))
	if err != nil {
		return 0, err
	}
	generation := hash(ds.Spec.Template)
	on := map[string]*corev1.Pod{}
	for i := range pods {
		on[pods[i].Spec.NodeName] = &pods[i]
	}
	status := *ds.Status.DeepCopy()
	status.ObservedGeneration = ds.Generation
	status.DesiredNumberScheduled, status.CurrentNumberScheduled, status.UpdatedNumberScheduled = 0, 0, 0
	status.NumberMisscheduled, status.NumberReady, status.NumberAvailable = 0, 0, 0
	var wait time.Duration
	var stale *corev1.Pod
	for _, n := range all {
		p := on[n.Name]
		delete(on, n.Name)
		if !fits(&ds.Spec.Template.Spec, &n) {
			if p != nil && p.DeletionTimestamp == nil && ds.DeletionTimestamp == nil {
				return 0, remove(c, p)
			}
			continue
		}
		status.DesiredNumberScheduled++
		switch {
		case ds.DeletionTimestamp != nil:
		case p == nil:
			p = podOf(namespace, &ds.Spec.Template, ref)
			p.GenerateName, p.Spec.NodeName = name+"-", n.Name
			p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] = generation
			p.Labels["pod-template-generation"] = strconv.FormatInt(ds.Generation, 10)
			return 0, create(c, p)
		case p.Status.Phase == corev1.PodFailed && p.DeletionTimestamp == nil:
			return 0, remove(c, p)
		case p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] != generation && p.DeletionTimestamp == nil && stale == nil:
			stale = p
		}
		if p == nil {
			continue
		}
		status.CurrentNumberScheduled++
		if p.Labels[appsv1.DefaultDaemonSetUniqueLabelKey] == generation {
			status.UpdatedNumberScheduled++
		}
		if ready(p) && p.DeletionTimestamp == nil {
			status.NumberReady++
			ok, left := available(c, p, ds.Spec.MinReadySeconds)
			if ok {
				status.NumberAvailable++
			}
			wait = soonest(wait, left)
		}
	}
	for i := range pods { // whose node has gone
		if p := &pods[i]; on[p.Spec.NodeName] != nil && p.DeletionTimestamp == nil && ds.DeletionTimestamp == nil {
			return 0, remove(c, p)
		}
	}
	status.NumberUnavailable = status.DesiredNumberScheduled - status.NumberAvailable
	if u := ds.Spec.UpdateStrategy.RollingUpdate; u != nil && stale != nil {
		spare, _ := intstr.GetScaledValueFromIntOrPercent(u.MaxUnavailable, int(status.DesiredNumberScheduled), true)
		if !ready(stale) || int(status.NumberUnavailable) < spare {
			return 0, remove(c, stale)
		}
	}
	if reflect.DeepEqual(status, ds.Status) {
		return wait, nil
	}
	ds.Status = status
	return wait, actor.Do(c, http.MethodPut, path+"/status", ds, nil)
}

// fits says whether a pod of the template may run on a node.
func fits(spec *corev1.PodSpec, n *corev1.Node) bool {
	for k, v := range spec.NodeSelector {
		if n.Labels[k] != v {
			return false
		}
	}
	return spec.NodeName == "" || spec.NodeName == n.Name
}
