package process

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Of two replicas the first one that gets the lease works. When it is killed, the other one takes
// over.
func TestLeaderElection(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.createConfigMap(t, "a")
		o := ctrl.Options{LeaderElection: true, LeaderElectionID: "lock"}
		p := w.manage("p", o, reconciling(ok))
		w.drain(5 * time.Second)
		w.manage("q", o, reconciling(ok))
		w.drain(30 * time.Second)
		expect(t, "dequeued", w.dequeued, "[p/1 c default/a]")
		expect(t, "starting", w.Starting(), "")
		w.gone = true
		p.Current().Kill()
		w.drain(31 * time.Second)
		expect(t, "starting", strings.Contains(w.Starting(), "waiting for the lease"), true)
		w.drain(2 * time.Minute)
		if !slices.Contains(w.dequeued, "q/1 c default/a") {
			t.Errorf("q did not take over; dequeued: %v", w.dequeued)
		}
	})
}

func TestOptionsThatNewManagerRefuses(t *testing.T) {
	for want, o := range map[string]ctrl.Options{
		"LeaderElectionConfig":   {LeaderElectionConfig: &rest.Config{}},
		"NewInformer":            {Cache: cache.Options{NewInformer: toolscache.NewSharedIndexInformer}},
		"needs LeaderElectionID": {LeaderElection: true},
	} {
		run(t, func(t *testing.T, w *world) {
			w.gone = true
			w.manage("p", o, func(manager.Manager) error { return nil })
			w.drain(time.Second)
			if len(w.exits) != 1 || w.exits[0] == nil || !strings.Contains(w.exits[0].Error(), want) {
				t.Errorf("%v; want %q", w.exits, want)
			}
		})
	}
}

// A kind that the cluster does not serve is remembered until it does.
func TestUnservedKinds(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.manage("p", ctrl.Options{}, func(mgr manager.Manager) error {
			_, err := mgr.GetRESTMapper().RESTMapping(corev1.SchemeGroupVersion.WithKind("Widget").GroupKind())
			if err == nil {
				return errors.New("a Widget was found")
			}
			return nil
		})
		w.drain(time.Second)
		expect(t, "unserved", w.Unserved(), "[Widget]")
		expect(t, "exits", w.exits, "[]")
	})
}

// A manager's webhook server has no port: the world calls its handlers, once it serves.
func TestTheWebhookServerOfAManager(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		w.create(t, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
			`{"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
			"metadata":{"name":"hook"},"webhooks":[{"name":"hook.example.com",
			"sideEffects":"None","admissionReviewVersions":["v1"],
			"clientConfig":{"service":{"namespace":"default","name":"hook","path":"/judge"}},
			"rules":[{"operations":["CREATE"],"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"]}]}]}`)
		asked := 0
		p := w.manage("p", ctrl.Options{}, func(mgr manager.Manager) error {
			mgr.GetWebhookServer().Register("/judge", http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				asked++
				rw.WriteHeader(http.StatusTeapot)
			}))
			return nil
		})
		service := &apiserver.WebhookService{Namespace: "default", Name: "hook", Path: "/judge"}
		expect(t, "endpoints before it serves", len(w.Endpoints(service, "/judge")), 0)
		w.drain(time.Second)
		expect(t, "endpoints", len(w.Endpoints(service, "/judge")), 1)
		expect(t, "endpoints of another path", len(w.Endpoints(service, "/other")), 0)
		expect(t, "endpoints of a URL", len(w.Endpoints(nil, "/judge")), 0)
		if _, at := w.Served(); at != 0 {
			t.Errorf("it serves since %v", at)
		}
		w.createConfigMap(t, "a")
		w.drain(2 * time.Second)
		expect(t, "calls of the webhook", asked, 1)
		expect(t, "answer of the webhook", w.History.Events[len(w.History.Events)-2].Code, http.StatusTeapot)
		p.Current().Kill()
		expect(t, "endpoints of the dead", len(w.Endpoints(service, "/judge")), 0)
	})
}

// Requests with a context of an incarnation belong to it, whatever client sends them; others are
// refused. Who dials is reported and goes no further.
func TestTheRealNetworkIsOutOfReach(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		if err := w.Wire.Hosts.Outside("git.example", http.NotFoundHandler()); err != nil {
			t.Fatal(err)
		}
		var got []string
		get := func(ctx context.Context) {
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://git.example/", nil)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				got = append(got, "refused")
				return
			}
			got = append(got, resp.Status)
		}
		w.Start("p", func(ctx context.Context, _ *rest.Config) error {
			get(ctx)
			get(context.Background())
			(&net.Dialer{}).DialContext(ctx, "tcp", "192.0.2.1:443") //nolint:errcheck // it does not return
			got = append(got, "connected")
			return nil
		}, Settings{})
		w.drain(time.Second)
		expect(t, "answers", got, "[404 Not Found refused]")
		if len(w.dialled) != 1 || !strings.HasPrefix(w.dialled[0], "p 192.0.2.1:443 ") {
			t.Errorf("dialled: %q", w.dialled)
		}
	})
}
