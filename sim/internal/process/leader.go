package process

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/history"
)

// managers are what the world must know of the managers of an incarnation.
type managers struct {
	mu       sync.Mutex
	all      []*managing
	webhooks []*webhookServer
}

// managing is what the world must know of one manager.
type managing struct {
	setup   atomic.Bool     // the program's setup function is running
	elected <-chan struct{} // closed when it leads
	lease   *history.Ref    // that it must hold to lead; nil without leader election
	id      string          // under which it holds that
}

func newManaging(mgr ctrl.Manager, o *ctrl.Options) *managing {
	m := &managing{elected: mgr.Elected()}
	if o.LeaderElection {
		lock := o.LeaderElectionResourceLockInterface
		namespace, name, _ := strings.Cut(lock.Describe(), "/")
		m.lease = &history.Ref{Group: "coordination.k8s.io", Kind: "Lease", Namespace: namespace, Name: name}
		m.id = lock.Identity()
	}
	return m
}

func (m *managers) add(one *managing) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, one)
}

func (m *managers) addWebhooks(s *webhookServer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.webhooks = append(m.webhooks, s)
}

// servers are the webhook servers of the managers.
func (m *managers) servers() []*webhookServer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.webhooks
}

// Managed reports whether there is at least one manager.
func (m *managers) Managed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all) > 0
}

// holds reports whether one of the managers holds a lease under that identity.
func (m *managers) holds(lease history.Ref, identity string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.all, func(one *managing) bool {
		return one.lease != nil && *one.lease == lease && one.id == identity
	})
}

// starting says what the managers of a process wait for before their controllers start; "" for
// nothing. led reports whether all lead. holder is the identity of the living incarnation that
// holds a lease.
func (m *managers) starting(process string, holder func(history.Ref) string) (what string, led bool) {
	m.mu.Lock()
	all := m.all
	m.mu.Unlock()
	led = true
	for _, one := range all {
		if one.setup.Load() {
			return fmt.Sprintf("the setup function of %s, which has not returned: "+
				"it registers controllers, and the manager is started for it", process), led
		}
		select {
		case <-one.elected:
			continue
		default:
			led = false
		}
		if one.lease == nil {
			continue
		}
		switch holder(*one.lease) {
		case "":
			return fmt.Sprintf(
				"%s is waiting for the lease %s, which no running process holds",
				process,
				one.lease,
			), led
		case one.id:
			return fmt.Sprintf("%s has the lease %s and is about to lead", process, one.lease), led
		}
	}
	return "", led
}

// lead gives leader election a lock whose identity is the incarnation. controller-runtime's own
// identity begins with the host name, so histories would differ between machines.
func lead(cfg *rest.Config, o *ctrl.Options, identity, account string) error {
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
		o.LeaderElectionNamespace, _, _ = strings.Cut(cmp.Or(account, "default"), "/")
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
		core, coordination, resourcelock.ResourceLockConfig{Identity: identity})
	return err
}
