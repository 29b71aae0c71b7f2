package sim_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
)

// named answers with its name and the host that was meant.
func named(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name+" at "+r.Host) })
}

// asking starts a program that asks the URLs one after the other, and returns the answers.
func asking(w *sim.World, name string, urls ...string) []string {
	var got []string
	w.Run(name, func(ctx context.Context, cfg *rest.Config) error {
		for _, url := range urls {
			got = append(got, asked(ctx, cfg.Transport, http.MethodGet, url))
		}
		<-ctx.Done()
		return nil
	})
	w.Settle()
	return got
}

// asked is what comes of one request.
func asked(ctx context.Context, transport http.RoundTripper, method, url string) string {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		inner := err
		for next := err; next != nil; next = errors.Unwrap(next) {
			inner = next
		}
		return inner.Error()
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Sprint(resp.Status, err)
	}
	return string(body)
}

var hosts = []misuse{
	in("a malformed host pattern", func(w *sim.World) { w.External("*.[a", nil) },
		`w.External: the host pattern "*.[a" is malformed; * stands for any text within one label`),
	in("a host pattern with a path", func(w *sim.World) { w.External("https://*.example", nil) },
		`w.External: the host pattern "https://*.example" has a slash; write the host without scheme and path`),
	in("one host pattern twice", func(w *sim.World) {
		w.External("*.example", nil)
		w.External("*.example", nil)
	}, `w.External: host "*.example" was declared twice`),
	in("two host patterns that fit", func(w *sim.World) {
		w.External("a.*.example", named("one"))
		w.External("*.b.example", named("other"))
		w.Start("op", calling("http://a.b.example/"))
		w.Settle()
	}, `, and the host fits both "*.b.example" and "a.*.example", `+
		`which are equally long`),
	in("a star that should stand for two labels", func(w *sim.World) {
		w.External("*.example", named("one"))
		w.Start("op", calling("http://a.b.example/"))
		w.Settle()
	}, `the world has no host "a.b.example"`,
		"are given to w.External as a pattern, Services to w.ExternalServices, and Pods to w.ExternalPods"),
	in("a Service that is not served", func(w *sim.World) {
		w.ExternalServices(func(*corev1.Service) http.Handler { return nil })
		w.Apply(service("db", nil))
		w.Start("op", calling("http://db.default.svc/"))
		w.Settle()
	}, `the world has no host "db.default.svc"`),
	in("no model of Services", func(w *sim.World) { w.ExternalServices(nil) },
		"w.ExternalServices was given no function"),
	in("no model of Pods", func(w *sim.World) { w.ExternalPods(nil) }, "w.ExternalPods was given no function"),
	in("an address of no Pod", func(w *sim.World) {
		w.ExternalPods(func(*corev1.Pod) http.Handler { return named("a Pod") })
		w.Start("op", calling("http://10.9.8.7:8080/"))
		w.Settle()
	}, `the world has no host "10.9.8.7:8080"`),
}

func service(name string, labels map[string]string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: labels},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
	}
}

// A Service answers under the names that a cluster gives it, while it exists.
func TestServicesAreReached(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.ExternalServices(func(s *corev1.Service) http.Handler {
			if s.Labels["app"] == "database" {
				return named(s.Name)
			}
			return nil
		})
		w.ExternalServices(func(s *corev1.Service) http.Handler {
			if owner := metav1.GetControllerOf(s); owner != nil && owner.Kind == "ConfigMap" {
				return named("of " + owner.Name)
			}
			return nil
		})
		db, owned := service("db", map[string]string{"app": "database"}), service("web", nil)
		headless := service("pods", map[string]string{"app": "database"})
		headless.Spec.ClusterIP = corev1.ClusterIPNone
		urls := []string{"http://db.default/", "http://db.default.svc/", "http://db.default.svc.cluster.local:80/",
			"http://web.default.svc/",
			"https://db.default.svc/", "http://pods.default.svc:9090/", "http://absent.default.svc/"}
		before := asking(w, "before", urls[:3]...)
		yes := true
		owner := simtest.ConfigMap("a")
		w.Apply(owner)
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(owner), owner); err != nil {
			t.Error(err)
		}
		owned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "a",
			UID: owner.UID, Controller: &yes}}
		w.Apply(db, owned, headless)
		there := asking(w, "there", urls...)
		w.Remove(db)
		after := asking(w, "after", urls[:3]...)

		const gone = "no such host"
		want := []string{"lookup db.default: " + gone, "lookup db.default.svc: " + gone,
			"lookup db.default.svc.cluster.local: " + gone}
		if !slices.Equal(before, want) || !slices.Equal(after, want) {
			t.Errorf("before it exists %q, afterwards %q", before, after)
		}
		want = []string{"db at db.default", "db at db.default.svc", "db at db.default.svc.cluster.local:80",
			"of a at web.default.svc",
			"connect to db.default.svc: connection refused", "pods at pods.default.svc:9090", "lookup " +
				"absent.default.svc: " + gone}
		if !slices.Equal(there, want) {
			t.Errorf("%q", there)
		}
	}, sim.Runs(3), sim.Verify(1))
}

// A Pod answers at its address and at its name behind a headless Service, while it runs.
func TestPodsAreReached(t *testing.T) {
	simtest.Holds(t, func(w *sim.World) {
		w.ExternalPods(func(p *corev1.Pod) http.Handler {
			if p.Labels["app"] == "database" {
				return named(p.Name)
			}
			return nil
		})
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "db-0", Namespace: "default",
				Labels: map[string]string{"app": "database"}},
			Spec: corev1.PodSpec{Hostname: "db-0", Subdomain: "db",
				Containers: []corev1.Container{{Name: "db", Image: "db"}}},
		}
		w.Apply(p)
		status := func(phase corev1.PodPhase) {
			p.Status.Phase, p.Status.PodIP, p.Status.PodIPs = phase, "10.244.0.2", []corev1.PodIP{{IP: "10.244.0.2"}}
			if err := w.Client().Status().Update(w.Context(), p); err != nil {
				t.Error(err)
			}
		}
		if err := w.Client().Get(w.Context(), client.ObjectKeyFromObject(p), p); err != nil {
			t.Error(err)
		}
		urls := []string{"http://10.244.0.2:5432/", "https://db-0.db.default.svc/", "http://db-1.db.default.svc/"}
		var got [][]string
		status(corev1.PodPending)
		got = append(got, asking(w, "pending", urls...))
		status(corev1.PodRunning)
		got = append(got, asking(w, "running", urls...))
		w.Remove(p)
		got = append(got, asking(w, "gone", urls...))
		lost := []string{"lookup 10.244.0.2: no such host", "lookup db-0.db.default.svc: no such host",
			"lookup db-1.db.default.svc: no such host"}
		want := [][]string{
			{"connect to 10.244.0.2:5432: connection refused", "connect to db-0.db.default.svc: connection refused",
				lost[2]},
			{"db-0 at 10.244.0.2:5432", "db-0 at db-0.db.default.svc", lost[2]}, lost}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q", got)
		}
	}, sim.Runs(3), sim.Verify(1))
}

// Faults strike requests to Services as they strike those to other hosts, and what they change is
// an effect.
func TestFaultsReachServices(t *testing.T) {
	var failed, slow, doubled, vanished int
	simtest.Holds(t, func(w *sim.World) {
		posts := 0
		w.ExternalServices(func(*corev1.Service) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				posts++
				fmt.Fprint(w, r.Host)
			})
		})
		made := service("", nil)
		made.GenerateName = "db-"
		if err := w.Client().Create(w.Context(), made); err != nil {
			t.Fatal(err)
		}
		w.Inject(fault.FailedEffect(), fault.SlowEffect(time.Minute), fault.DoubledEffect())
		w.Run("op", func(ctx context.Context, cfg *rest.Config) error {
			for range 5 {
				before, start := posts, time.Now()
				got := asked(ctx, cfg.Transport, http.MethodPost, "http://"+made.Name+".default.svc/")
				switch {
				case strings.HasPrefix(got, "500"):
					failed++
				case strings.Contains(got, "no such host"):
					vanished++
				case posts == before+2:
					doubled++
				}
				if time.Since(start) > 5*time.Second {
					slow++
				}
			}
			<-ctx.Done()
			return nil
		})
		w.Sleep(time.Second)
		w.Remove(made)
		w.Settle()
		if n := len(w.History().Effects("")); n != posts {
			t.Errorf("%d effects of %d requests", n, posts)
		}
	}, sim.Runs(60), sim.Verify(3))
	if failed == 0 || slow == 0 || doubled == 0 || vanished == 0 {
		t.Errorf("%d failed, %d slow, %d doubled, %d after the Service was gone", failed, slow, doubled, vanished)
	}
}

// A scenario may say that a host does not exist; the program sees what a resolver says, and no
// connection that got lost.
func TestNilHandlerMeansNoSuchHost(t *testing.T) {
	var saw error
	simtest.Holds(t, func(w *sim.World) {
		w.External("telemetry.example", nil)
		w.Start("op", func(mgr ctrl.Manager) error {
			return ctrl.NewControllerManagedBy(mgr).Named("op").For(&corev1.ConfigMap{}).Complete(reconcile.Func(
				func(context.Context, reconcile.Request) (reconcile.Result, error) {
					//nolint:noctx // it ends with the process
					resp, err := sim.HTTPClient(mgr).Get("https://telemetry.example/ping")
					if err == nil {
						resp.Body.Close()
					}
					saw = err
					//nolint:noctx // a library that posts telemetry has no context of the operator's
					if resp, err := http.Get("https://telemetry.example/ping"); err == nil {
						resp.Body.Close()
					}
					return reconcile.Result{}, nil
				}))
		})
		w.Inject(fault.LostReply(), fault.Unreachable(time.Minute), fault.Crash("op"))
		w.Always("all is well", func(*history.History) error { return nil })
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(30), sim.Verify(1))
	var dns *net.DNSError
	if !errors.As(saw, &dns) || !dns.IsNotFound || dns.Name != "telemetry.example" {
		t.Errorf("the program saw %v", saw)
	}
}
