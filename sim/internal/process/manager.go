package process

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Manager is the real manager, which observes what is added to it.
type Manager struct {
	manager.Manager
	incarnation *Incarnation
	setup       atomic.Bool  // the program's setup function is running
	lease       *history.Ref // the lease that it must hold to lead; nil without leader election
	id          string       // under which it holds that
}

// Add implements manager.Manager.
func (m *Manager) Add(r manager.Runnable) error {
	m.incarnation.noteSetup()
	r, err := m.incarnation.observeController(r)
	if err != nil {
		return err
	}
	return m.Manager.Add(r)
}

// Setup calls the setup function of the operator.
func (m *Manager) Setup(setup func(manager.Manager) error) error {
	m.setup.Store(true)
	defer m.setup.Store(false)
	return setup(m)
}

// unserved remembers the kinds that were not found.
type unserved struct {
	meta.RESTMapper
	world *Supervisor
}

// RESTMapping implements meta.RESTMapper.
func (u unserved) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m, err := u.RESTMapper.RESTMapping(gk, versions...)
	if meta.IsNoMatchError(err) {
		u.world.unserved.Store(gk, true)
	}
	return m, err
}

// Unserved are the kinds that processes have looked up and that the cluster does not serve, in
// order.
func (s *Supervisor) Unserved() (out []string) {
	s.unserved.Range(func(k, _ any) bool {
		if _, err := s.Wire.Mapper().RESTMapping(k.(schema.GroupKind)); err != nil {
			out = append(out, k.(schema.GroupKind).String())
		}
		return true
	})
	slices.Sort(out)
	return out
}

// HTTPClient is a client for requests to the outside. It ends with the incarnation.
func (m *Manager) HTTPClient() *http.Client {
	return &http.Client{Transport: m.incarnation.Port.Client()}
}

// IncarnationOf returns the incarnation that a rest.Config was made for.
func IncarnationOf(cfg *rest.Config) (*Incarnation, error) {
	if port, ok := cfg.Transport.(*wire.Port); ok {
		if l, ok := port.Owner.(*Incarnation); ok {
			return l, nil
		}
	}
	return nil, errors.New("this rest.Config is not the one that the simulated process was given " +
		"(its Transport must be kept)")
}

// NewManager makes a real manager over the incarnation's port. Options that the harness must set
// are overridden. Options that cannot work in a simulated world are errors.
func NewManager(cfg *rest.Config, o ctrl.Options) (*Manager, error) {
	l, err := IncarnationOf(cfg)
	if err != nil {
		return nil, err
	}
	if home := l.Config().Host; cfg.Host != home {
		return nil, fmt.Errorf("this rest.Config is of %s, and a manager can only be had for the cluster "+
			"that the simulated process runs in (%s); reach the others by cluster.New, "+
			"as multi-cluster operators do, and add that to the manager", cfg.Host, home)
	}
	if o.LeaderElectionConfig != nil {
		return nil, errors.New("ctrl.Options.LeaderElectionConfig cannot be set in a simulated process: " +
			"its leases go to the simulated cluster")
	}
	if o.Cache.NewInformer != nil {
		return nil, errors.New("ctrl.Options.Cache.NewInformer cannot be set in a simulated process: " +
			"the harness sorts what informers list")
	}
	if o.NewCache != nil || o.NewClient != nil {
		const message = "NewCache and NewClient are kept, but cached lists of other caches come in map order"
		l.world.Log.Info(message, "process", l.Process.Name)
	}
	if o.Client.Cache != nil { // controller-runtime writes this incarnation's cache into it
		cache := *o.Client.Cache
		o.Client.Cache = &cache
	}
	o.Metrics.BindAddress = "0"
	o.HealthProbeBindAddress = "0"
	o.PprofBindAddress = "0"
	skip := true
	o.Controller.SkipNameValidation = &skip
	if o.Logger.GetSink() == nil {
		o.Logger = l.world.Log.WithValues("process", l.Name())
	}
	if o.MapperProvider == nil {
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return unserved{l.world.Wire.Mapper(), l.world}, nil
		}
	}
	scheme := o.Scheme
	if scheme == nil {
		scheme = clientgoscheme.Scheme // controller-runtime's default
	}
	o.Cache.NewInformer = func(
		lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, ix cache.Indexers,
	) cache.SharedIndexInformer {
		return l.newInformer(scheme, lw, obj, resync, ix)
	}
	o.NewCache = l.inOrder(o.NewCache)
	o.WebhookServer = l.newWebhookServer(o.WebhookServer)
	if err := l.lead(cfg, &o); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	m := &Manager{Manager: mgr, incarnation: l}
	if o.LeaderElection {
		lock := o.LeaderElectionResourceLockInterface
		namespace, name, _ := strings.Cut(lock.Describe(), "/")
		m.lease = &history.Ref{Group: "coordination.k8s.io", Kind: "Lease", Namespace: namespace, Name: name}
		m.id = lock.Identity()
	}
	l.managers = append(l.managers, m)
	l.mu.Unlock()
	return m, nil
}

// lead gives leader election a lock whose identity is the incarnation. controller-runtime's own
// identity begins with the host name, so histories would differ between machines.
func (i *Incarnation) lead(cfg *rest.Config, o *ctrl.Options) error {
	if !o.LeaderElection || o.LeaderElectionResourceLockInterface != nil {
		return nil
	}
	if o.LeaderElectionID == "" {
		return errors.New("ctrl.Options.LeaderElection needs LeaderElectionID, as it does in production")
	}
	retry, deadline := 2*time.Second, 10*time.Second // controller-runtime's defaults
	if o.RetryPeriod != nil {
		retry = *o.RetryPeriod
	}
	if o.RenewDeadline != nil {
		deadline = *o.RenewDeadline
	}
	if retry > 0 && deadline%retry == 0 {
		// The last retry and the deadline would fall on one instant, and the runtime would choose
		// which comes first.
		deadline -= 7 * time.Millisecond
		o.RenewDeadline = &deadline
	}
	if o.LeaderElectionNamespace == "" {
		// Inside a cluster it is that of the Pod, which is that of its account.
		o.LeaderElectionNamespace, _, _ = strings.Cut(cmp.Or(i.Process.Account(), "default"), "/")
	}
	core, err := corev1.NewForConfig(cfg)
	if err != nil {
		return err
	}
	coordination, err := coordinationv1.NewForConfig(cfg)
	if err != nil {
		return err
	}
	kind := o.LeaderElectionResourceLock
	if kind == "" {
		kind = resourcelock.LeasesResourceLock
	}
	o.LeaderElectionResourceLockInterface, err = resourcelock.New(kind, o.LeaderElectionNamespace, o.LeaderElectionID,
		core, coordination, resourcelock.ResourceLockConfig{Identity: i.identity()})
	return err
}

func (i *Incarnation) identity() string { return fmt.Sprintf("%s-%d", i.Process.Name, i.N) }
