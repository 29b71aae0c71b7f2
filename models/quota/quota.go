// Package quota enforces ResourceQuotas and LimitRanges as a cluster does: admission refuses what
// exceeds them, gives containers default requests and limits, and charges each quota that a new
// object counts against. The controller of quotas counts again.
//
// The rules are those of k8s.io/apiserver/pkg/admission/plugin/resourcequota, of the evaluators in
// pkg/quota/v1, of plugin/pkg/admission/limitranger and of pkg/controller/resourcequota of
// Kubernetes 1.37. So an operator meets what it meets in a cluster:
//
//   - a quota that is not counted yet admits everything at first, because its status has no limits;
//   - a deletion gives back its share only when the controller has counted again, so an object that
//     is deleted and created at once may be refused;
//   - a request that fails after admission has been charged all the same, until the count of every
//     five minutes.
//
// # What is different
//
// Objects count/<resource> of any type, Pods, Services and PersistentVolumeClaims are counted.
// ResourceClaims, requests for devices of a class and resizes in place are not. Of several quotas
// that refuse, the first by name is reported. Admission sees quotas as they are, without the lag of
// an informer. Quotas with the scopes CrossNamespacePodAffinity or VolumeAttributesClass are
// refused as not modelled when an object could count against them.
package quota

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	quota "k8s.io/apiserver/pkg/quota/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// New returns "resourcequota-controller", which counts what is used. The server of its world
// enforces quotas and limit ranges from then on. A real API server does so by itself.
func New() actor.Actor { return &controller{} }

// resync is how often everything is counted again (ResourceQuotaSyncPeriod). Between attempts that
// fail a quota waits from firstRetry to lastRetry (DefaultTypedControllerRateLimiter).
const resync, firstRetry, lastRetry = 5 * time.Minute, 5 * time.Millisecond, 1000 * time.Second

type controller struct {
	actor.Cluster
	quotas   map[string]bool // the paths of those that exist
	failures map[string]int
}

// Name implements [actor.Actor].
func (*controller) Name() string { return "resourcequota-controller" }

// Serve implements [actor.Server].
func (*controller) Serve(s *apiserver.Server) { Enforce(s) }

// Begin implements [actor.Actor].
func (c *controller) Begin(cluster actor.Cluster) {
	c.Cluster, c.quotas, c.failures = cluster, map[string]bool{}, map[string]int{}
	all, _ := actor.List[corev1.ResourceQuota](c, "/api/v1/resourcequotas")
	for _, q := range all {
		c.added(path(q.Namespace, q.Name))
	}
}

func path(namespace, name string) string {
	return actor.Path("", "v1", namespace, "resourcequotas", name)
}

func (c *controller) added(path string) {
	if c.quotas[path] = true; len(c.quotas) == 1 {
		c.Later(resync, "resync", c.all)
	}
	c.enqueue(path)
}

func (c *controller) enqueue(path string) {
	c.After(0, strings.TrimPrefix(path, "/api/v1/"), func() { c.sync(path) })
}

func (c *controller) all() {
	for _, path := range slices.Sorted(maps.Keys(c.quotas)) {
		c.enqueue(path)
	}
	if len(c.quotas) > 0 {
		c.Later(resync, "resync", c.all)
	}
}

// Observe implements [actor.Actor]. Of quotas only a changed spec counts, of what they count only
// that something may be given back.
func (c *controller) Observe(ch apiserver.Change) {
	if at := path(ch.Namespace, ch.Name); ch.Group == "" && ch.Kind == "ResourceQuota" {
		var now, before corev1.ResourceQuota
		switch {
		case ch.Type == "ADDED":
			c.added(at)
		case ch.Type == "DELETED":
			delete(c.quotas, at)
		case actor.Decode(ch.Object, &now) && actor.Decode(ch.Previous, &before) &&
			!quota.Equals(now.Spec.Hard, before.Spec.Hard):
			c.enqueue(at)
		}
	}
	if len(c.quotas) == 0 || ch.Namespace == "" || ch.Type == "ADDED" || ch.Type == "MODIFIED" && !releases(ch) {
		return
	}
	all, _ := actor.List[corev1.ResourceQuota](c, path(ch.Namespace, ""))
	for i := range all {
		if len(tracked(schema.GroupResource{Group: ch.Group, Resource: ch.Resource}, all[i].Status.Hard)) > 0 {
			c.enqueue(path(ch.Namespace, all[i].Name))
		}
	}
}

// releases reports whether an update may lower what is used (install/update_filter.go).
func releases(ch apiserver.Change) bool {
	switch {
	case ch.Group != "":
		return false
	case ch.Kind == "Pod":
		var now, before corev1.Pod
		return actor.Decode(ch.Object, &now) && actor.Decode(ch.Previous, &before) &&
			(terminating(&now) != terminating(&before) || runs(&before, ch.Time) && !runs(&now, ch.Time))
	case ch.Kind == "Service":
		var now, before corev1.Service
		return actor.Decode(ch.Object, &now) && actor.Decode(ch.Previous, &before) && now.Spec.Type != before.Spec.Type
	}
	return false
}

// sync brings the status of a quota up to date (syncResourceQuota).
func (c *controller) sync(path string) {
	var q corev1.ResourceQuota
	if !actor.Get(c, path, &q) {
		delete(c.failures, path)
		return
	}
	used, err := c.count(&q)
	if err == nil && (q.Status.Hard == nil || q.Status.Used == nil || !quota.Equals(used, q.Status.Used) ||
		!apiequality.Semantic.DeepEqual(q.Spec.Hard, q.Status.Hard)) {
		q.Status = corev1.ResourceQuotaStatus{Hard: quota.Add(nil, q.Spec.Hard), Used: used}
		err = actor.Do(c, http.MethodPut, path+"/status", &q, nil)
	}
	if err == nil || apierrors.IsNotFound(err) {
		delete(c.failures, path)
		return
	}
	wait := min(firstRetry<<min(c.failures[path], 20), lastRetry)
	c.failures[path]++
	c.Again(wait, strings.TrimPrefix(path, "/api/v1/"), func() { c.sync(path) })
}

// count is what the objects in the namespace of a quota use (CalculateUsage).
func (c *controller) count(q *corev1.ResourceQuota) (corev1.ResourceList, error) {
	used := quota.Add(nil, q.Status.Used)
	for _, r := range actor.Resources(c) {
		of := schema.GroupResource{Group: r.Group, Resource: r.Name}
		names := tracked(of, q.Spec.Hard)
		if !r.Namespaced || len(names) == 0 {
			continue
		}
		sum := corev1.ResourceList{}
		for _, name := range names {
			sum[name] = zero
		}
		err := each(c, of, actor.Path(r.Group, r.Version, q.Namespace, r.Name, ""), func(o runtime.Object) error {
			in, err := inScope(q, o)
			if in {
				sum = quota.Add(sum, quota.Mask(usage(of, o, c.Clock()), names))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(used, sum)
	}
	return quota.Mask(used, quota.ResourceNames(q.Spec.Hard)), nil
}

// each calls f for every object of a collection, decoded as far as usage looks at it.
func each(c actor.Cluster, of schema.GroupResource, path string, f func(runtime.Object) error) error {
	switch of {
	case pods:
		return apply[corev1.Pod](c, path, f)
	case services:
		return apply[corev1.Service](c, path, f)
	case claims:
		return apply[corev1.PersistentVolumeClaim](c, path, f)
	}
	return apply[metav1.PartialObjectMetadata](c, path, f)
}

func apply[T any](c actor.Cluster, path string, f func(runtime.Object) error) error {
	all, err := actor.List[T](c, path)
	for i := range all {
		if err := f(any(&all[i]).(runtime.Object)); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return err
}
