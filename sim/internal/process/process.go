package process

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Main is a program. It returns when ctx is done or when it fails.
type Main func(ctx context.Context, cfg *rest.Config) error

// Process is one program that runs in the world.
type Process struct {
	Name string

	main      Main
	settings  Settings
	world     *Supervisor
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
