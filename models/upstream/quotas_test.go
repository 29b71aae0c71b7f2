package upstream

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/controller-manager/pkg/informerfactory"
	kubecontroller "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	"k8s.io/kubernetes/pkg/quota/v1/install"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/quota"
	"github.com/wavetank/wavetank/sim"
)

// quotas is the real controller of ResourceQuotas, newResourceQuotaController of core.go.
var quotas = program("resourcequota-controller",
	func(ctx context.Context, c *connected) (func(context.Context, int), error) {
		config, err := install.NewQuotaConfigurationForControllers(
			generic.ListerFuncForResourceFunc(c.typed.ForResource), c.typed)
		if err != nil {
			return nil, err
		}
		started := make(chan struct{})
		q, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
			QuotaClient: c.client.CoreV1(), ResourceQuotaInformer: c.typed.Core().V1().ResourceQuotas(),
			ResyncPeriod:              kubecontroller.StaticResyncPeriodFunc(5 * time.Minute),
			InformerFactory:           informerfactory.NewInformerFactory(c.typed, c.untyped),
			ReplenishmentResyncPeriod: kubecontroller.StaticResyncPeriodFunc(12 * time.Hour),
			DiscoveryFunc:             c.client.Discovery().ServerPreferredNamespacedResources,
			IgnoredResourcesFunc:      config.IgnoredResources, InformersStarted: started,
			Registry: generic.NewRegistry(config.Evaluators()), UpdateFilter: install.DefaultUpdateFilter(),
		})
		return func(ctx context.Context, workers int) { close(started); q.Run(ctx, workers) }, err
	})

// enforcing has the server enforce quotas without the model of their controller.
type enforcing struct{}

func (enforcing) Name() string                { return "enforcing" }
func (enforcing) Serve(s *apiserver.Server)   { quota.Enforce(s) }
func (enforcing) Begin(actor.Cluster)         {}
func (enforcing) Observe(ch apiserver.Change) {}

// counted tells of quotas and of how many pods there are.
func counted(h *history.History) string {
	var out []string
	for _, o := range h.Objects("", "ResourceQuota") {
		var q corev1.ResourceQuota
		must(o.Into(&q))
		for name, hard := range q.Status.Hard {
			used := q.Status.Used[name]
			out = append(out, fmt.Sprintf("%s: %s %s of %s", q.Name, name, used.String(), hard.String()))
		}
	}
	slices.Sort(out)
	return strings.Join(append(out, fmt.Sprint(len(h.Objects("", "Pod")), " pods")), "\n")
}

// TestQuotas compares what the controllers of quotas count.
func TestQuotas(t *testing.T) {
	limit := func(hard map[string]string, scopes ...corev1.ResourceQuotaScope) *corev1.ResourceQuota {
		q := &corev1.ResourceQuota{ObjectMeta: in("shop", "q"), Spec: corev1.ResourceQuotaSpec{Scopes: scopes,
			Hard: corev1.ResourceList{}}}
		for name, n := range hard {
			q.Spec.Hard[corev1.ResourceName(name)] = resource.MustParse(n)
		}
		return q
	}
	pods := func(n string) *corev1.ResourceQuota { return limit(map[string]string{"pods": n, "count/pods": "9"}) }
	for name, scenario := range map[string]func(*sim.World){
		"fewer than are wanted": func(w *sim.World) { w.Apply(web(3)) },
		"more, and then fewer": func(w *sim.World) {
			w.Apply(web(2))
			w.Sleep(let)
			alter(w, web(0), scale(1))
		},
		"another limit": func(w *sim.World) {
			w.Apply(web(3))
			w.Sleep(let)
			alter(w, pods("2"), `{"spec":{"hard":{"pods":"5","count/deployments.apps":"4"}}}`)
		},
		"a rolling update": func(w *sim.World) {
			w.Apply(web(2))
			w.Sleep(let)
			alter(w, web(0), image("web:2"))
		},
		"pods that fail": func(w *sim.World) {
			w.Apply(work("fails", func(s *batchv1.JobSpec) { s.BackoffLimit = new(int32(3)) }))
		},
		"everything deleted": func(w *sim.World) {
			w.Apply(web(2))
			w.Sleep(let)
			w.Remove(web(0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			told(t, []controller{quotas}, func(w *sim.World) {
				w.Builtin(enforcing{})
				w.Apply(pods("2"))
				w.Sleep(10 * time.Second)
				scenario(w)
				w.Sleep(6 * time.Minute)
			}, counted)
		})
	}
}
