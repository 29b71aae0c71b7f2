// This file is a suite whose specs fail on purpose. It runs only in children of the tests in
// simginkgo_test.go.

package simginkgo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"testing"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

// TestFixtures is the bootstrap as kubebuilder scaffolds it, with one line more.
func TestFixtures(t *testing.T) {
	if os.Getenv("SIMGINKGO_FIXTURES") == "" {
		t.Skip("its specs fail on purpose; simginkgo_test.go runs it")
	}
	RegisterFailHandler(Fail)
	if os.Getenv("SIMGINKGO_FIXTURES") != "forgetful" {
		simginkgo.Use(t)
	}
	RunSpecs(t, "Fixtures")
}

// marker marks every ConfigMap that it sees, or expects not to see one called "bad".
type marker struct {
	client.Client
	picky bool
}

func (r *marker) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := r.Get(ctx, req.NamespacedName, cm); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if r.picky {
		Expect(cm.Name).NotTo(Equal("bad"), "the marker met a bad one") // site: a reconciler's own
	}
	if cm.Data["marked"] == "yes" {
		return reconcile.Result{}, nil
	}
	cm.Data = map[string]string{"marked": "yes"}
	return reconcile.Result{}, r.Update(ctx, cm)
}

func object(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}

// world is a scenario with a marker; then is what follows before it settles.
func world(picky bool, then func(*sim.World)) func(*sim.World) {
	return func(w *sim.World) {
		w.Start("marker", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(&marker{mgr.GetClient(), picky})
		})
		w.Inject(fault.StaleCache(5e9))
		w.Apply(object("good"))
		then(w)
		w.Settle()
	}
}

func neverMarked(w *sim.World) {
	w.Always("nothing is marked", func(h *history.History) error {
		for _, o := range h.Objects("", "ConfigMap") {
			var cm corev1.ConfigMap
			if err := o.Into(&cm); err == nil && cm.Data["marked"] == "yes" {
				return errors.New(cm.Name + " is marked")
			}
		}
		return nil
	})
}

func nothing(*sim.World) {}

func missed() { Expect(1).To(Equal(2), "missed") }

func helped(scenario func(*sim.World), opts ...sim.ExploreOption) {
	GinkgoHelper()
	simginkgo.Check(scenario, opts...)
}

var stories = sim.Stories(os.Getenv("SIMGINKGO_STORIES"))

var _ = Describe("A marker", func() {
	It("holds", Label("good"), func() {
		simginkgo.Check(world(false, nothing), sim.Runs(5))
	})
	It("declares a fault that never strikes", func() {
		simginkgo.Check(world(false, func(w *sim.World) { w.Inject(fault.LostReply(fault.OfKind("Pig"))) }),
			sim.Runs(20), sim.For(0))
	})
	It("doesn't hold (on purpose)", func() {
		simginkgo.Check(world(false, neverMarked), stories) // line: doesn't hold (on purpose)
	})
	It("is only searched", func() {
		r := simginkgo.Explore(world(false, neverMarked))
		Expect(r.Failure).NotTo(BeNil())
		Expect(r.Failure.Property).To(Equal("nothing is marked"))
		r = simginkgo.Explore(world(true, func(w *sim.World) { w.Apply(object("bad")) }))
		Expect(r.Failure).NotTo(BeNil())
		Expect(r.Failure.Kind).To(Equal(result.Expectation))
		Expect(simginkgo.Explore(world(true, nothing), sim.Runs(5)).Failure).To(BeNil())
	})
	It("meets an expectation of the scenario's own", func() {
		simginkgo.Check(world(false, func(w *sim.World) { // line: meets an expectation of the scenario's own
			w.Settle()
			var cm corev1.ConfigMap
			Expect(w.Client().Get(w.Context(), client.ObjectKeyFromObject(object("good")), &cm)).To(Succeed())
			Expect(&cm.Data).To(HaveValue(BeEmpty())) // site: the scenario's own
		}), stories)
	})
	It("meets an expectation of a reconciler's own", func() {
		simginkgo.Check(world(true, func(w *sim.World) { // line: meets an expectation of a reconciler's own
			w.Apply(object("bad"))
		}), stories)
	})
	It("meets an expectation in a property", func() {
		simginkgo.Check(world(false, func(w *sim.World) { // line: meets an expectation in a property
			w.Eventually("there is one object", func(h *history.History) error {
				Expect(h.Objects("", "ConfigMap")).To(BeEmpty()) // site: in a property
				return nil
			})
		}), stories)
	})
	It("is helped", func() {
		helped(world(false, neverMarked), stories) // line: is helped
	})
	It("is misused", func() {
		simginkgo.Check(world(false, func(w *sim.World) { w.Stop("nobody") })) // line: is misused
	})
	It("has a longer namesake", func() {
		simginkgo.Check(world(false, neverMarked), stories)
	})
	It("skips itself", func() {
		simginkgo.Check(world(false, func(*sim.World) { Skip("not today") }), stories)
	})
	It("fails by Ginkgo's own", func() {
		// line: fails by Ginkgo's own
		simginkgo.Check(world(false, func(*sim.World) { GinkgoT().Fatal("not like this") }), stories)
	})
	It("holds after those", func() {
		simginkgo.Check(world(false, nothing), sim.Runs(5))
	})
	It("misses what it should sometimes reach", func() {
		simginkgo.Check(world(false, func(w *sim.World) { // line: misses what it should sometimes reach
			w.Sometimes("pigs fly", func(*history.History) bool { return false })
		}), sim.Runs(3))
	})
	DescribeTable("entries", func(broken bool) {
		then := nothing
		if broken {
			then = neverMarked
		}
		r := simginkgo.Explore(world(false, then), sim.Runs(5))
		Expect(r.Failure != nil).To(Equal(broken))
	},
		Entry("as reported", true),
		Entry("fixed", false),
	)
	DescribeTable("an expectation elsewhere", func(setup func(ctrl.Manager) error) {
		r := simginkgo.Explore(func(w *sim.World) {
			w.External("far.example", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { missed() }))
			w.Start("op", setup)
			w.Apply(object("good"))
			w.Settle()
		})
		Expect(r.Failure).NotTo(BeNil())
		Expect(r.Failure.Kind).To(Equal(result.Expectation))
		Expect(r.Failure.Message).To(HavePrefix("missed"))
	},
		Entry("in a setup function", func(ctrl.Manager) error {
			missed()
			return nil
		}),
		Entry("in a goroutine of a reconciler", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					done := make(chan struct{})
					go func() {
						defer close(done)
						defer GinkgoRecover()
						missed()
					}()
					<-done
					return reconcile.Result{}, nil
				}))
		}),
		Entry("in a predicate", func(mgr ctrl.Manager) error {
			missing := predicate.NewPredicateFuncs(func(client.Object) bool {
				missed()
				return true
			})
			return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{},
				builder.WithPredicates(missing)).Complete(&marker{mgr.GetClient(), false})
		}),
		Entry("outside the cluster", func(mgr ctrl.Manager) error {
			return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://far.example/", nil)
				if err != nil {
					return err
				}
				_, err = sim.HTTPClient(mgr).Do(req)
				return err
			}))
		}),
	)
})

var _ = BeforeSuite(func() { // as kubebuilder scaffolds it
	if os.Getenv("SIMGINKGO_FIXTURES") == "logging" {
		logf.SetLogger(funcr.New(func(_, args string) { fmt.Fprintln(GinkgoWriter, args) }, funcr.Options{}))
	}
})

var _ = Describe("A marker that logs", func() {
	It("does not hold", func() {
		GinkgoWriter.Println("said before")
		webhook := logf.Log.WithName("webhook")
		simginkgo.Check(world(false, func(w *sim.World) {
			w.Start("talker", func(mgr ctrl.Manager) error {
				return ctrl.NewControllerManagedBy(mgr).Named("talker").For(&corev1.ConfigMap{}).Complete(
					reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
						logf.FromContext(ctx).Info("a reconciler talks")
						webhook.Info("a webhook talks")
						klog.Info("a library talks")
						return reconcile.Result{}, nil
					}))
			})
			w.Eventually("nothing is marked in the end", func(*history.History) error {
				return errors.New("good is marked")
			})
		}), stories, sim.Strategy("random"))
	})
})

var _ = Describe("More than A marker", func() {
	It("has a longer namesake", func() {
		simginkgo.Check(world(false, nothing), sim.Runs(5))
	})
})
