package world

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim/fault"
)

// chatter says the same of an object again and again, of those called brief twice only.
func chatter(mgr ctrl.Manager) error {
	said := map[string]int{}
	recorder := mgr.GetEventRecorder("chatter")
	return ctrl.NewControllerManagedBy(mgr).Named("chatter").For(&corev1.ConfigMap{}).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			if err := mgr.GetClient().Get(ctx, req.NamespacedName, &cm); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			recorder.Eventf(&cm, nil, corev1.EventTypeNormal, "Said", "Say", "it is there")
			if said[req.Name]++; strings.HasPrefix(req.Name, "brief") && said[req.Name] == 2 {
				return reconcile.Result{}, nil
			}
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}))
}

// The broadcaster of Events ends a series that has been quiet for six minutes, and holds a mutex
// until the server has answered. Other events wait for the mutex meanwhile, and the world must not
// wait for them forever.
func TestEventsAreSaidWhileASeriesEnds(t *testing.T) {
	ended := 0
	scenario := func(w *World) {
		w.Without("settles")
		w.Start("chatter", chatter, ProcessOptions{})
		for _, name := range []string{"brief", "long", "longer"} {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		}
		w.Sleep(14 * time.Minute)
		var all eventsv1.EventList
		if err := w.Client().List(w.Context(), &all); err != nil {
			t.Fatal(err)
		}
		for _, e := range all.Items {
			if e.Regarding.Name == "brief" && e.Series != nil && e.Series.Count == 2 {
				ended++
			}
		}
	}
	const seeds = 12
	twice(t, scenario, seeds, 0)
	if ended != 2*seeds {
		t.Errorf("the series was written in %d of %d runs", ended, 2*seeds)
	}
}

// The broadcaster refreshes all series every 30 minutes and ends those that are over every six
// minutes. Both are due in minute 30, and which of the two goroutines is first must not matter.
func TestASeriesThatEndsWhileAllAreRefreshedRepeats(t *testing.T) {
	twice(t, func(w *World) {
		w.Without("settles")
		w.Start("chatter", chatter, ProcessOptions{})
		for _, names := range [][]string{{"brief-1"}, {"brief-2", "brief-3"}} { // the first starts the broadcaster
			for _, name := range names {
				w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
			}
			w.Sleep(20 * time.Minute)
		}
	}, 40, 0)
}

// herald records three Events of each object by the recorder of before: its broadcaster writes one
// after the other, and waits for a while that it draws when one could not be written.
func herald(mgr ctrl.Manager) error {
	rounds := map[string]int{}
	recorder := mgr.GetEventRecorderFor("herald") //nolint:staticcheck // most operators still use it
	return ctrl.NewControllerManagedBy(mgr).Named("herald").For(&corev1.ConfigMap{}).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var cm corev1.ConfigMap
			if err := mgr.GetAPIReader().Get(ctx, req.NamespacedName, &cm); err != nil {
				return reconcile.Result{}, client.IgnoreNotFound(err)
			}
			if rounds[req.Name]++; rounds[req.Name] > 4 {
				return reconcile.Result{}, nil
			}
			for _, what := range []string{"One", "Two", "Three"}[:1+2*(rounds[req.Name]%2)] {
				recorder.Event(&cm, corev1.EventTypeNormal, what, "it is there")
			}
			return reconcile.Result{RequeueAfter: time.Second}, nil
		}))
}

// announcer records three Events of each ConfigMap that it sees, by a broadcaster of its own that
// ends with its context, and takes a second to end.
func announcer(ctx context.Context, cfg *rest.Config) error {
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	b := record.NewBroadcaster(record.WithContext(ctx))
	b.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: clients.CoreV1().Events("")})
	recorder := b.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: "announcer"})
	for ctx.Err() == nil {
		all, err := clients.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, what := range []string{"One", "Two", "Three"} {
			for i := range all.Items {
				recorder.Event(&all.Items[i], corev1.EventTypeNormal, what, "it is there")
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	time.Sleep(time.Second)
	return nil
}

// A broadcaster that ends with the context of the program chooses at random, too, while the program
// is still there.
func TestABroadcasterThatEndsWithTheProgramsContextRepeats(t *testing.T) {
	twice(t, func(w *World) {
		w.Run("announcer", announcer, ProcessOptions{})
		for _, name := range []string{"a", "b"} {
			w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
		}
		w.Sleep(105 * time.Millisecond)
		w.Stop("announcer")
		w.Sleep(10 * time.Second)
	}, 40, 0)
}

// A broadcaster that is shut down while it waits to try again chooses at random between the Events
// that wait and its end. What it sends then must neither be a step nor draw random numbers that
// the next incarnation draws, too.
//
//make:campaigns
func TestALifeThatEndsWithEventsUnsaidRepeats(t *testing.T) {
	heralded := func(end func(*World)) func(*World) {
		return func(w *World) {
			w.Start("herald", herald, ProcessOptions{})
			w.Inject(fault.LostReply())
			for _, name := range []string{"a", "b"} {
				w.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
			}
			end(w)
			w.Settle()
		}
	}
	stop := func(w *World) { w.Stop("herald") }
	for name, end := range map[string]func(*World){
		"asked to, at rest": func(w *World) { w.Settle(); stop(w) },
		"asked to, early":   func(w *World) { w.Sleep(210 * time.Millisecond); stop(w); w.Sleep(time.Minute); stop(w) },
		"restarted":         func(w *World) { w.Inject(fault.Restart("herald")); w.Sleep(time.Minute) },
		"killed": func(w *World) {
			w.Sleep(600 * time.Millisecond)
			w.procs.Find("herald").Current().Kill()
			w.Sleep(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) { twice(t, heralded(end), 60, 0) })
	}
}
