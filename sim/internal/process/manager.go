package process

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Manager is the real manager, which observes what is added to it.
type Manager struct {
	manager.Manager
	port        *wire.Port
	readers     *readers
	controllers *controllers
	managing    *managing
}

// Add implements manager.Manager.
func (m *Manager) Add(r manager.Runnable) error {
	m.readers.noteSetup()
	r, err := m.controllers.observe(r)
	if err != nil {
		return err
	}
	return m.Manager.Add(r)
}

// Setup calls the setup function of the operator.
func (m *Manager) Setup(setup func(manager.Manager) error) error {
	m.managing.setup.Store(true)
	defer m.managing.setup.Store(false)
	return setup(m)
}

// HTTPClient is a client for requests to the outside. It ends with the incarnation.
func (m *Manager) HTTPClient() *http.Client {
	return &http.Client{Transport: m.port.Client()}
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
		l.Log.Info(message, "process", l.Port.Process)
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
		o.Logger = l.Log.WithValues("process", l.Name())
	}
	if o.MapperProvider == nil {
		o.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return unservedKinds{l.Wire.Mapper(), &l.lookups}, nil
		}
	}
	scheme := o.Scheme
	if scheme == nil {
		scheme = clientgoscheme.Scheme // controller-runtime's default
	}
	decodes := l.readsReplies(cfg, &o)
	if !decodes {
		o.NewClient = newReceivingClient
	}
	o.Cache.NewInformer = func(
		lw cache.ListerWatcher, obj runtime.Object, resync time.Duration, ix cache.Indexers,
	) cache.SharedIndexInformer {
		var receiver *wire.Receiver
		if !decodes {
			receiver = wire.NewReceiver(obj)
		}
		return l.caches.newInformer(scheme, lw, obj, resync, ix, receiver)
	}
	o.NewCache = l.caches.inOrder(o.NewCache)
	webhooks := newWebhookServer(l.core, o.WebhookServer)
	l.managers.addWebhooks(webhooks)
	o.WebhookServer = webhooks
	if err := lead(cfg, &o, fmt.Sprintf("%s-%d", l.Port.Process, l.Port.Incarnation), l.program.Account()); err != nil {
		return nil, err
	}
	mgr, err := ctrl.NewManager(cfg, o)
	if err != nil {
		return nil, err
	}
	one := newManaging(mgr, &o)
	l.managers.add(one)
	return &Manager{mgr, l.Port, l.readers, l.controllers, one}, nil
}
