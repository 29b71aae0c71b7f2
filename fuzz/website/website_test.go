package website

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/rate"
	"github.com/wavetank/wavetank/models/kubelet"
	"github.com/wavetank/wavetank/models/workload"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// sites is a week of two sites: made, changed, scaled, broken by hand, and one of them removed.
func sites(w *sim.World) {
	w.Install(definition())
	w.Builtin(workload.New()...)
	w.Builtin(kubelet.New()...)
	w.Start("website", func(mgr ctrl.Manager) error { return (&reconciler{}).setup(mgr) },
		sim.Options(ctrl.Options{Scheme: scheme}))
	w.Inject(fault.StaleCache(30*time.Second), fault.MissedStates(30*time.Second), fault.DroppedWatch(), fault.Relist(),
		fault.Crash("website"), fault.Restart("website"), fault.LostReply(), fault.Conflict(), fault.ServerError(),
		fault.Expired())
	w.Always("no controller overwrites a change that it has not observed", property.NoLostUpdate())
	w.Always("a page belongs to one site", pagesOwned)
	w.Always("a pod runs an image that a user wanted", imagesKnown)
	w.Always("an available site has pods", availableServes)
	w.Always("a Service selects the pods of its own site", servicesSelect)
	w.Eventually("each site serves its page", served)
	w.Eventually("a reconcile at rest writes nothing", property.IdempotentAtRest())
	w.Apply(site("blog", "hello", "web:1", 2), site("shop", "buy", "web:1", 1))
	w.Settle()
	w.Apply(site("blog", "hello again", "web:2", 2))
	w.Settle()
	w.Apply(site("blog", "hello again", "web:2", 3), site("shop", "sell", "web:1", 1))
	w.Settle()
	named := metav1.ObjectMeta{Namespace: "default", Name: "blog"}
	w.Remove(&corev1.Service{ObjectMeta: named}, &corev1.ConfigMap{ObjectMeta: named})
	w.Settle()
	w.Remove(site("shop", "", "", 0))
	w.Settle()
	w.ApplyAgain()
	w.Settle()
}

func site(name, page, image string, replicas int32) *Site {
	return &Site{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: SiteSpec{Page: page, Image: image, Replicas: replicas}}
}

func pagesOwned(h *history.History) error {
	for _, o := range h.Objects("", "ConfigMap") {
		var cm corev1.ConfigMap
		if err := o.Into(&cm); err != nil {
			return err
		}
		owners := cm.OwnerReferences
		if _, page := cm.Data["index.html"]; page && (len(owners) != 1 || owners[0].Name != cm.Name) {
			return fmt.Errorf("%s has the owners %v", cm.Name, owners)
		}
	}
	return nil
}

func imagesKnown(h *history.History) error {
	for _, o := range h.Objects("", "Pod") {
		var pod corev1.Pod
		if err := o.Into(&pod); err != nil {
			return err
		}
		if image := pod.Spec.Containers[0].Image; image != "web:1" && image != "web:2" {
			return fmt.Errorf("%s runs %q", pod.Name, image)
		}
	}
	return nil
}

func availableServes(h *history.History) error {
	for _, o := range h.Objects(group.Group, "Site") {
		var s Site
		if err := o.Into(&s); err != nil {
			return err
		}
		if meta.IsStatusConditionTrue(s.Status.Conditions, "Available") && s.Status.Ready == 0 {
			return fmt.Errorf("%s is available without a pod", s.Name)
		}
	}
	return nil
}

func servicesSelect(h *history.History) error {
	for _, o := range h.Objects("", "Service") {
		var svc corev1.Service
		if err := o.Into(&svc); err != nil {
			return err
		}
		if of, ok := svc.Spec.Selector["site"]; ok && of != svc.Name {
			return fmt.Errorf("%s selects the pods of %s", svc.Name, of)
		}
	}
	return nil
}

func served(h *history.History) error {
	for _, o := range h.Objects(group.Group, "Site") {
		var s Site
		if err := o.Into(&s); err != nil {
			return err
		}
		var d appsv1.Deployment
		var cm corev1.ConfigMap
		if o, ok := h.Object("apps", "Deployment", s.Namespace, s.Name); !ok || o.Into(&d) != nil || !rolledOut(&d) ||
			*d.Spec.Replicas != s.Spec.Replicas || s.Status.Ready != s.Spec.Replicas {
			return fmt.Errorf("%s: the site has the status %+v, and its Deployment %+v", s.Name, s.Status, d.Status)
		}
		if o, ok := h.Object("", "ConfigMap", s.Namespace, s.Name); !ok || o.Into(&cm) != nil ||
			cm.Data["index.html"] != s.Spec.Page {
			return fmt.Errorf("%s: the page is %q", s.Name, cm.Data["index.html"])
		}
		if _, ok := h.Object("", "Service", s.Namespace, s.Name); !ok {
			return fmt.Errorf("%s has no Service", s.Name)
		}
	}
	return nil
}

// The operator is correct: whatever happens, its sites are served in the end.
func TestSitesAreServed(t *testing.T) { sim.Check(t, sites, sim.Runs(20), sim.For(0)) }

// BenchmarkSites says what one CPU does in a second of such a campaign.
func BenchmarkSites(b *testing.B) { rate.Bench(b, sites) }
