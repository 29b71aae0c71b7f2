package quota

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/wavetank/wavetank/models/apiserver"
)

// defaults gives the containers of a new Pod the requests and limits that they lack
// (mergePodResourceRequirements).
func (e *enforcer) defaults(a *apiserver.Attempt, p *corev1.Pod) error {
	changed := false
	for _, l := range stored[corev1.LimitRange](e.server, "limitranges", a.Info.Namespace) {
		asked, limited := corev1.ResourceList{}, corev1.ResourceList{}
		for _, item := range l.Spec.Limits {
			if item.Type == corev1.LimitTypeContainer {
				maps.Copy(asked, item.DefaultRequest)
				maps.Copy(limited, item.Default)
			}
		}
		var notes []string
		fill := func(what string, containers []corev1.Container) {
			for i := range containers {
				c := &containers[i]
				for _, set := range []struct {
					kind string
					to   *corev1.ResourceList
					from corev1.ResourceList
				}{{"request", &c.Resources.Requests, asked}, {"limit", &c.Resources.Limits, limited}} {
					if names := merge(set.to, set.from); len(names) > 0 {
						notes = append(notes,
							fmt.Sprintf("%s %s for %s %s", strings.Join(names, ", "), set.kind, what, c.Name))
					}
				}
			}
		}
		fill("container", p.Spec.Containers)
		fill("init container", p.Spec.InitContainers)
		if len(notes) > 0 {
			changed = true
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, "kubernetes.io/limit-ranger",
				"LimitRanger plugin set: "+strings.Join(notes, "; "))
		}
	}
	if !changed {
		return nil
	}
	raw, err := json.Marshal(p)
	if err == nil {
		_, err = a.SetObject(raw)
	}
	return err
}

// merge adds what a list lacks, and returns the names of that.
func merge(to *corev1.ResourceList, from corev1.ResourceList) (names []string) {
	for name, q := range from {
		if _, there := (*to)[name]; !there {
			if *to == nil {
				*to = corev1.ResourceList{}
			}
			(*to)[name] = q.DeepCopy()
			names = append(names, string(name))
		}
	}
	slices.Sort(names)
	return names
}

// limit checks a new Pod or a claim against the limit ranges of its namespace (PodValidateLimitFunc
// and PersistentVolumeClaimValidateLimitFunc).
func (e *enforcer) limit(a *apiserver.Attempt) error {
	for _, l := range stored[corev1.LimitRange](e.server, "limitranges", a.Info.Namespace) {
		var errs []error
		for i := range l.Spec.Limits {
			item := &l.Spec.Limits[i]
			switch o := a.Typed().(type) {
			case *corev1.Pod:
				if a.Operation == "CREATE" {
					errs = append(errs, ofPod(item, o)...)
				}
			case *corev1.PersistentVolumeClaim:
				old, _ := a.OldTyped().(*corev1.PersistentVolumeClaim)
				if item.Type == corev1.LimitTypePersistentVolumeClaim && (old == nil || old.DeletionTimestamp == nil) {
					asked := side{"request", o.Spec.Resources.Requests}
					errs = slices.Concat(errs, bound(item, "minimum", item.Min, asked, side{}),
						bound(item, "maximum", item.Max, asked, side{}))
				}
			}
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return err
		}
	}
	return nil
}

func ofPod(item *corev1.LimitRangeItem, p *corev1.Pod) (errs []error) {
	switch item.Type {
	case corev1.LimitTypeContainer:
		for _, c := range slices.Concat(p.Spec.Containers, p.Spec.InitContainers) {
			errs = append(errs, within(item, c.Resources.Requests, c.Resources.Limits)...)
		}
	case corev1.LimitTypePod:
		bare := resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
		errs = within(item, resourcehelper.PodRequests(p, bare), resourcehelper.PodLimits(p, bare))
	}
	return errs
}

// within checks requests and limits against all that one item of a limit range demands.
func within(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) []error {
	asked, limited := side{"request", requests}, side{"limit", limits}
	return slices.Concat(bound(item, "minimum", item.Min, asked, limited),
		bound(item, "maximum", item.Max, limited, asked), ratio(item, requests, limits))
}

// side is the requests or the limits of an object, and what messages call them.
type side struct {
	name string
	list corev1.ResourceList
}

// bound checks that the first side has each resource, and that neither side is out of bounds
// (minConstraint, maxConstraint and maxRequestConstraint).
func bound(
	item *corev1.LimitRangeItem, word string, enforced corev1.ResourceList, first, second side,
) (errs []error) {
	outside := map[string]int{"minimum": -1, "maximum": 1}[word]
	for _, name := range slices.Sorted(maps.Keys(enforced)) {
		e := enforced[name]
		text := fmt.Sprintf("%s %s usage per %s is %s", word, name, item.Type, e.String())
		if _, there := first.list[name]; !there {
			errs = append(errs, fmt.Errorf("%s.  No %s is specified", text, first.name))
			continue
		}
		for _, s := range []side{first, second} {
			if q, there := s.list[name]; there && q.Cmp(e) == outside {
				errs = append(errs, fmt.Errorf("%s, but %s is %s", text, s.name, q.String()))
				break
			}
		}
	}
	return errs
}

// ratio checks how much higher than requests limits are (limitRequestRatioConstraint).
func ratio(item *corev1.LimitRangeItem, requests, limits corev1.ResourceList) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(item.MaxLimitRequestRatio)) {
		most, asked, limited := item.MaxLimitRequestRatio[name], requests[name], limits[name]
		text := fmt.Sprintf("%s max limit to request ratio per %s is %s, but ", name, item.Type, most.String())
		switch {
		case asked.IsZero():
			errs = append(errs, errors.New(text+"no request is specified or request is 0"))
		case limited.IsZero():
			errs = append(errs, errors.New(text+"no limit is specified or limit is 0"))
		case limited.AsApproximateFloat64() > asked.AsApproximateFloat64()*most.AsApproximateFloat64():
			errs = append(errs, fmt.Errorf("%sprovided ratio is %f", text,
				limited.AsApproximateFloat64()/asked.AsApproximateFloat64()))
		}
	}
	return errs
}
