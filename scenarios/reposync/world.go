// This file makes the world of a run: the operator, RepoSyncs, and what they need.

package reposync

import (
	"cmp"
	"context"
	"sync"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// Names of the processes other than the reconcilers, which are called like their Deployments.
const (
	Manager = "reconciler-manager"
	Webhook = "admission-webhook"
)

// Setting is how one world differs from another.
type Setting struct {
	Syncs   []types.NamespacedName // the RepoSyncs; shop/repo-sync if there are none
	Another bool                   // first a user deletes another namespace with a RepoSync in it
	Chain   int                    // how many of the managed objects depend on the next one: none, one, or two
	Stray   bool                   // the first of them depends on a user's object that no RepoSync manages
	Held    bool                   // the first of shop/repo-sync has another controller's finalizer
	Forever bool                   // that stays there: nothing settles then
	Orphans bool                   // managed objects are left behind when a RepoSync is deleted
	Root    string                 // what a RootSync declares, if there is one
	Ignore  bool                   // deletions pass while the webhook does not answer
	Before  reposync.Variant       // runs until upgraded; the variant of the case if empty
	Late    bool                   // noLeaks is judged at the end only, because the manager's work fails

	// Inside gives reconcilers their rights to what they manage by a RoleBinding in the namespace,
	// on which the RepoSync says that it depends. Otherwise they have them by a ClusterRoleBinding.
	Inside bool
	// Order is the one in which the namespace controller deletes types, the others after these; see
	// namespace.InOrder. Pace is how long it takes for each of its steps, as good as no time if 0.
	Order []string
	Pace  time.Duration
	// Lingers is how long a reconciler continues when its Deployment has gone.
	Lingers time.Duration
	// Lists has reconcilers list at resourceVersion 0, which a server that lags may answer.
	Lists bool
	// Declare changes what the repositories of RepoSyncs declare, if it is set.
	Declare func([]*unstructured.Unstructured) []*unstructured.Unstructured
}

// shop is the RepoSync that most cases are about, root the RootSync of those that have one, other a
// second RepoSync in the namespace, and another one in a namespace of its own.
var (
	shop    = types.NamespacedName{Namespace: "shop", Name: "repo-sync"}
	root    = types.NamespacedName{Namespace: reposync.Namespace, Name: "root-sync"}
	other   = types.NamespacedName{Namespace: shop.Namespace, Name: "other"}
	another = types.NamespacedName{Namespace: "first", Name: shop.Name}
)

// scheme is shared by all runs, because making it takes longer than a run.
var scheme = worlds.Scheme(v1beta1.AddToScheme)

// World is a world with the operator in it.
type World struct {
	*sim.World
	*Record
	// variant is the one that runs, next the one that replaces it in upgraded.
	variant, next reposync.Variant
	pods          *pods
}

// Begin starts the operator, and lets it sync everything once.
func Begin(w *sim.World, v reposync.Variant, s Setting) *World {
	if s.Another {
		s.Syncs = []types.NamespacedName{another, shop}
	} else if len(s.Syncs) == 0 {
		s.Syncs = []types.NamespacedName{shop}
	}
	world := &World{World: w, Record: NewRecord(s), variant: cmp.Or(s.Before, v), next: v, pods: newPods(s.Lingers)}
	w.Without("no stuck finalizer") // the cases have properties for that
	if v != reposync.V10 || s.Forever {
		w.Without("settles") // a reconciler without rights never gives up
	}
	const crds = "../../controllers/reposync/crds/"
	w.Install(crds+"configsync.gke.io_reposyncs.yaml", crds+"kpt.dev_resourcegroups.yaml")
	if s.Root != "" { // without a RootSync the orders of types to try are fewer
		w.Install(crds + "configsync.gke.io_rootsyncs.yaml")
	}
	order := namespace.InOrder(s.Order...)
	w.Builtin(worlds.Slow(namespace.New(namespace.AnyOrder(), order), "pass ", s.Pace), world.pods)
	w.Apply(worlds.Namespace(reposync.Namespace), reposync.ReconcilerRole())
	world.run(Manager, reposync.ManagerOptions(ctrl.Options{Scheme: scheme}), func(mgr ctrl.Manager) (err error) {
		if s.Root != "" {
			err = (&reposync.Manager{Variant: world.variant, Root: true}).SetupWithManager(mgr)
		}
		if err == nil {
			err = (&reposync.Manager{Variant: world.variant}).SetupWithManager(mgr)
		}
		return err
	})
	for _, sync := range s.Syncs {
		world.reconciler(sync)
	}
	if s.Root != "" {
		world.reconciler(root)
		w.Apply(s.repoSync(root))
	}
	for _, sync := range s.Syncs {
		if s.Root != allForShop {
			w.Apply(s.needed(sync)...)
		}
	}
	world.guard()
	w.Settle()
	return world
}

// run adds a process that works while its pod is there.
func (s *World) run(name string, o ctrl.Options, setup func(ctrl.Manager) error, opts ...sim.ProcessOption) {
	s.Run(name, func(ctx context.Context, cfg *rest.Config) error {
		return s.pods.run(ctx, name, func(ctx context.Context) error {
			mgr, err := sim.NewManager(cfg, o)
			if err == nil {
				err = setup(mgr)
			}
			if err != nil {
				return err
			}
			return mgr.Start(ctx)
		})
	}, opts...)
}

// reconciler adds the process of a sync's reconciler.
func (s *World) reconciler(sync types.NamespacedName) {
	name := reposync.ReconcilerName(sync)
	o := ctrl.Options{Scheme: scheme,
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{sync.Namespace: {}}}}
	setup := func(mgr ctrl.Manager) error {
		return (&reposync.Reconciler{Sync: sync, Variant: s.variant, Source: s.source}).SetupWithManager(mgr)
	}
	opts := []sim.ProcessOption{sim.As(reposync.Namespace + "/" + name)}
	if s.setting.Lists {
		opts = append(opts, sim.ListThenWatch())
	}
	s.run(name, o, setup, opts...)
}

// guard adds the webhook, if the variant has one.
func (s *World) guard() {
	policy := admissionregv1.Fail
	if s.setting.Ignore {
		policy = admissionregv1.Ignore
	}
	guard := &reposync.Guard{Variant: s.variant}
	config, err := guard.Configuration(policy)
	worlds.Must(err, "configuring the webhook")
	if config == nil {
		return
	}
	s.run(Webhook, ctrl.Options{Scheme: scheme}, guard.SetupWithManager)
	s.Settle() // it serves before it is asked
	s.Apply(config)
}

// pods runs a process for as long as the Deployment of its name exists and its node is up. It may
// continue for a while after the Deployment has gone, in cases in which it is not created again.
type pods struct {
	cluster actor.Cluster
	lingers time.Duration
	mu      sync.Mutex // programs wait on their own goroutines
	all     map[string]*pod
}

type pod struct {
	deployed, off bool
	turns         chan struct{} // closed when its process starts or ends
}

func (p *pod) runs() bool { return p.deployed && !p.off }

// newPods has the manager and the webhook deployed.
func newPods(lingers time.Duration) *pods {
	p := &pods{lingers: lingers, all: map[string]*pod{}}
	p.set(Manager, deployed(true))
	p.set(Webhook, deployed(true))
	return p
}

func (*pods) Name() string            { return "reconciler-pods" }
func (p *pods) Begin(c actor.Cluster) { p.cluster = c }

func (p *pods) Observe(c apiserver.Change) {
	if c.Resource == "deployments" && c.Namespace == reposync.Namespace && c.Type != "MODIFIED" {
		there, after := c.Type == "ADDED", p.lingers
		if there {
			after = 0
		}
		p.cluster.After(after, "pod "+c.Name, func() { p.set(c.Name, deployed(there)) })
	}
}

func deployed(is bool) func(*pod) { return func(p *pod) { p.deployed = is } }

// power turns the node of a process off and on.
func (p *pods) power(name string, on bool) { p.set(name, func(p *pod) { p.off = !on }) }

// set changes a pod, and starts or ends its process by that.
func (p *pods) set(name string, change func(*pod)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all[name] == nil {
		p.all[name] = &pod{turns: make(chan struct{})}
	}
	pod := p.all[name]
	was := pod.runs()
	change(pod)
	if pod.runs() != was {
		close(pod.turns)
		pod.turns = make(chan struct{})
	}
}

// state reports whether a process runs, and returns what is closed when that is over.
func (p *pods) state(name string) (runs bool, turns <-chan struct{}) {
	p.set(name, func(p *pod) { runs, turns = p.runs(), p.turns })
	return runs, turns
}

// run waits for the pod, and runs the program until the pod goes: then it ends at once, as by
// SIGKILL. Its next incarnation waits.
func (p *pods) run(ctx context.Context, name string, program func(context.Context) error) error {
	runs, turns := p.state(name)
	for ; !runs; runs, turns = p.state(name) {
		select {
		case <-turns:
		case <-ctx.Done():
			return nil
		}
	}
	ended := make(chan error, 1)
	new(sync.WaitGroup).Go(func() { ended <- program(ctx) })
	select {
	case err := <-ended:
		return err
	case <-turns:
		return nil
	}
}
