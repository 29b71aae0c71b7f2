package process

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Main is a program. It returns when ctx is done or when it fails.
type Main func(ctx context.Context, cfg *rest.Config) error

// Observer observes what processes do by themselves.
type Observer interface {
	// Dequeued is called for every key that a worker gets, as its reconcile begins.
	Dequeued(i *Incarnation, controller string, item reconcile.Request)
	// Exited is called if a program's main returns by itself. It reports whether the kubelet
	// should start it again.
	Exited(i *Incarnation, err error) (restart bool)
	// Dialled is called if a program dials an address by itself, with a context of its own
	// incarnation. It may be called on any goroutine. at is the operator's line, as file:line.
	Dialled(process, address, at string, byHTTP bool)
}

// Process is one program that runs in the world.
type Process struct {
	Name string

	main      Main
	settings  Settings
	env       *environment
	observer  Observer
	begun     func(*Incarnation)
	current   *Incarnation // nil while the process is down
	started   int          // how many incarnations
	settled   int          // how many incarnations there were when the world last settled
	ends      int          // in a row, for the kubelet's back-off
	fresh     bool         // the next failure counts as the first
	forgiven  bool         // an end has counted as the first
	restart   *sched.Action
	startedAt time.Duration
	readers   readers
}

// Settings are what a cluster knows of a process, and its program does not.
type Settings struct {
	// Account is the ServiceAccount that it runs as, as "namespace/name"; "" for a cluster
	// administrator.
	Account string
	// Services are the Services that lead to the process, as "namespace/name"; if there are none,
	// any may.
	Services []string
	// ListThenWatch makes the informers of its managers list first and watch then.
	ListThenWatch bool
}

// Current is the current incarnation; nil while the process is down.
func (p *Process) Current() *Incarnation { return p.current }

// Incarnations is how many incarnations there were, the current one included.
func (p *Process) Incarnations() int { return p.started }

func (p *Process) begin() {
	p.started++
	p.restart = nil
	p.startedAt = p.env.Sched.Now()
	i := newIncarnation(p.env, p, p.observer.Dequeued)
	p.current = i
	p.begun(i)
	i.record(history.Start, history.Outcome{})
	i.start()
}

// kubelet's restart back-off,
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy
const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 300 * time.Second
	backOffReset = 10 * time.Minute
)

// mostIncarnations is how many incarnations of a process faults may begin between two Settles.
const mostIncarnations = 20

// scheduleRestart schedules the next incarnation. why is how the last one ended, in words, and
// asked whether it was asked to end. The kubelet counts every end, as it would start a container
// again that exits with code 0. One that ended as it was asked to has not ended before.
func (p *Process) scheduleRestart(failed, asked bool, why string) {
	s := p.env.Sched
	var wait time.Duration
	if s.Now()-p.startedAt >= backOffReset {
		p.ends, p.forgiven = 0, false
	}
	if first := p.fresh || !failed; first && p.ends == 0 && !p.forgiven {
		p.forgiven = true
	} else {
		wait = min(firstBackOff<<min(p.ends, 10), maxBackOff)
		p.ends++
	}
	p.fresh = false
	p.restart = &sched.Action{
		Order: p.Name + " restart",
		Actor: choice.Actor{Process: p.Name, Name: "restart"},
		What:  func() string { return "restart of " + p.Name + ", which " + why },
		Delay: func() time.Duration { return wait },
		Own:   wait,
		Do: func() {
			if asked {
				chosen := s.Choices.Choose(story.Label{Kind: story.Seed, What: p.Name}, 1<<16)
				reseed(p.seedOfNext(chosen))
			}
			p.begin()
		},
	}
	s.Park(p.restart)
}

// seedOfNext is the seed of the random generators as the next incarnation begins. It depends on the
// process and on the incarnation: the default choice is that of every incarnation and of the run
// itself, and an incarnation must not draw the names that another has drawn.
func (p *Process) seedOfNext(chosen int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s/%d", chosen, p.Name, p.started+1)
	return h.Sum64()
}

// Fresh makes the next failure count as the first, if there was none before. The kubelet does not
// wait after a first failure.
func (p *Process) Fresh() { p.fresh = true }

// MayEnd reports whether a fault may end the process: not when there have been many incarnations
// since the world settled. A run that mostly restarts shows little.
func (p *Process) MayEnd() bool { return p.started-p.settled < mostIncarnations }

// identify gives a new incarnation its credential. The token of a ServiceAccount is for the account
// that exists now.
func (p *Process) identify(port *wire.Port) {
	port.User, port.Groups = p.User()
	if p.Account() == "" {
		return
	}
	namespace, name, _ := strings.Cut(p.Account(), "/")
	if account := p.env.Wire.Server().Typed("", "serviceaccounts", namespace, name); account != nil {
		if m, err := meta.Accessor(account); err == nil {
			port.UID = string(m.GetUID())
		}
	}
}

// Account is the ServiceAccount that a process runs as, as "namespace/name"; "" for an
// administrator.
func (p *Process) Account() string { return p.settings.Account }

// User is the name by which the API server knows a process, and the groups that it is in.
func (p *Process) User() (name string, groups []string) {
	if p.Account() == "" {
		return p.Name, []string{user.SystemPrivilegedGroup, user.AllAuthenticated}
	}
	namespace, account, _ := strings.Cut(p.Account(), "/")
	return serviceaccount.MakeUsername(namespace, account),
		append(serviceaccount.MakeGroupNames(namespace), user.AllAuthenticated)
}

// ReaderOf is the operator's line for which informers of a process read a kind: one that watches
// it, or that reads it from a cache. If neither is known it is the line that sets a controller up;
// "" if there is none.
func (p *Process) ReaderOf(kind string) string { return p.readers.of(kind) }

// behind reports whether a Service reaches the process.
func (p *Process) behind(service *apiserver.WebhookService) bool {
	if service == nil {
		return false
	}
	name := fmt.Sprintf("%s/%s", service.Namespace, service.Name)
	return len(p.settings.Services) == 0 || slices.Contains(p.settings.Services, name)
}
