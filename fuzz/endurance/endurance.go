// Package endurance is a long day in a large world: ten ordinary controllers that look after many
// objects each, a user who keeps changing his mind, and every fault. It shows that the harness
// itself holds out: a run of that size ends in time, repeats, and needs no more memory the longer
// it lasts.
package endurance

import (
	"fmt"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// Size is how large and how long a soak is.
type Size struct {
	Objects int           // that each of the ten controllers looks after
	Hours   int           // of virtual time under faults
	Changed int           // objects of each controller that the user changes in an hour
	Gone    int           // objects of each controller that the user deletes in an hour and makes again in the next
	Pause   time.Duration // between two changes
}

// Full is the size that make soak runs.
var Full = Size{Objects: 1000, Hours: 10, Changed: 50, Gone: 5, Pause: time.Second}

// Small is the size for everyday tests.
var Small = Size{Objects: 12, Hours: 2, Changed: 5, Gone: 2, Pause: time.Minute}

const host = "office.example"

// Day is the scenario. each is called at the end of every hour, hour 0 being the time until all
// objects are looked after; it may be nil.
func Day(size Size, each func(hour int, w *sim.World)) func(*sim.World) {
	return func(w *sim.World) {
		w.External(host, &office{seen: map[string]bool{}})
		for _, r := range rooms() {
			w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: r.name}})
			for i := range size.Objects {
				w.Apply(r.object(i, 0))
			}
		}
		for _, r := range rooms() {
			for _, process := range r.processes() {
				w.Start(process, r.setup(process), sim.Options(r.options()), sim.Vary())
			}
			w.Eventually("everything is done in "+r.name, r.done())
		}
		w.Apply(seen())
		w.Settle()
		w.Inject(faults()...)
		for hour := range size.Hours + 1 {
			if hour > 0 {
				size.pass(w, hour)
				w.Settle()
			}
			if each != nil {
				each(hour, w)
			}
		}
	}
}

// pass is an hour of the user's.
func (s Size) pass(w *sim.World, hour int) {
	end := w.History().Now() + 40*time.Minute
	if s.Gone > 0 {
		w.Apply(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("hour-%d", hour)}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: fmt.Sprintf("hour-%d", hour), Name: "left"}})
		w.Remove(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("hour-%d", hour)}})
	}
	for i := range s.Changed {
		for _, r := range rooms() {
			o := r.object((i*7+hour*13)%s.Objects, hour)
			if hour%2 == 1 && i < s.Gone {
				w.Remove(r.object(i, 0))
				continue
			}
			w.Apply(o)
		}
		w.Sleep(s.Pause)
	}
	if hour%2 == 0 {
		for _, r := range rooms() {
			for i := range s.Gone {
				w.Apply(r.object(i, hour))
			}
		}
	}
	if left := end - w.History().Now(); left > 0 {
		w.Sleep(left)
	}
}

// faults are all that there are, for the controllers that feel them.
func faults() []fault.Fault {
	return []fault.Fault{
		fault.StaleCache(30 * time.Second), fault.MissedStates(30 * time.Second), fault.DroppedWatch(), fault.Relist(),
		fault.Expired(),
		fault.StaleServer(time.Minute), fault.Crash("stamps-0"), fault.Crash("mails-0"), fault.Restart("guards-0"),
		fault.Pause("owners-0", time.Minute),
		fault.Pause("stamps-1a", time.Minute), fault.LeaderOverlap(), fault.RacingRequeue(), fault.LostReply(),
		fault.Conflict(), fault.ServerError(),
		fault.Unreachable(time.Minute), fault.Rejected("no"), fault.Forbidden(time.Minute),
		fault.WebhookDown(time.Minute), fault.SlowNamespace(time.Minute),
		fault.SlowEffect(10 * time.Second), fault.FailedEffect(), fault.DoubledEffect(),
	}
}

// seen is a webhook that stamps-0 serves for every write in its namespace. Failures are ignored.
func seen() *admissionregistrationv1.ValidatingWebhookConfiguration {
	ignore, none, path := admissionregistrationv1.Ignore, admissionregistrationv1.SideEffectClassNone, "/see"
	service := admissionregistrationv1.ServiceReference{Namespace: "stamps-0", Name: "stamps", Path: &path}
	room := metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: "stamps-0"}}
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "see"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "see.soak.example", FailurePolicy: &ignore, SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{Service: &service},
			NamespaceSelector:       &room,
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create,
					admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"},
					Resources: []string{"configmaps"}},
			}},
		}},
	}
}

// done reports whether a room's controller has done its work on every object in it.
func (r room) done() func(*history.History) error {
	known := map[history.Ref]int64{} // revisions that are done
	_, elsewhere := r.kind.(owners)  // whose work is on another object
	return func(h *history.History) error {
		for _, o := range h.Live(func(ref history.Ref) bool {
			return ref.Kind == "ConfigMap" &&
				ref.Namespace == r.name
		}) {
			var cm corev1.ConfigMap
			if known[o.Ref] == o.Revision && !elsewhere {
				continue
			}
			if err := o.Into(&cm); err != nil {
				return err
			}
			if !r.kind.did(h, &cm) {
				return fmt.Errorf("%s is not done: wanted is %q, and its annotations are %v", o.Ref, cm.Data["want"],
					cm.Annotations)
			}
			known[o.Ref] = o.Revision
		}
		return nil
	}
}

// object is what the user wants at an hour.
func (r room) object(i, hour int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.name, Name: fmt.Sprintf("o%04d", i)},
		Data:       map[string]string{"want": fmt.Sprintf("hour %d", hour)},
	}
}

// options are those of the operator's main: its cache is limited to its room.
func (r room) options() ctrl.Options {
	o := ctrl.Options{}
	o.Cache.DefaultNamespaces = inNamespace(r.name)
	// A client of controller-runtime 0.25 that reads its own writes waits forever if another client
	// deleted the object before its informer listed again: the version that it waits for never
	// comes. So sim.Vary does not change that option.
	o.Client.Cache = &client.CacheOptions{}
	if r.replicas > 1 {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, r.name, r.name
	}
	return o
}

// annotate records on an object what was done, and leaves the rest to others.
func annotate(key, value string, finalizers []string) client.Patch {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, key, value)
	if finalizers != nil {
		patch = fmt.Appendf(nil, `{"metadata":{"finalizers":[%q],"annotations":{%q:%q}}}`, finalizers[0], key, value)
	}
	return client.RawPatch(types.MergePatchType, patch)
}
