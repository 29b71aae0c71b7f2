package process

import (
	"context"
	"time"

	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// Main is a program. It returns when ctx is done or when it fails.
type Main func(ctx context.Context, cfg *rest.Config) error

// Process is one program in the world.
type Process struct {
	Name string

	main      Main
	settings  Settings
	world     *World
	life      *Life // nil between lives
	lives     int
	failures  int  // in a row, for the kubelet's back-off
	fresh     bool // the next failure may count as the first
	forgiven  bool // and one has
	restart   *sched.Action
	startedAt time.Duration
}

// Settings are what a cluster says about a program, and the program itself does not know.
type Settings struct {
	// Account is the ServiceAccount that it runs as, as "namespace/name"; "" for a cluster administrator.
	Account string
	// Services are the Services that lead to it, as "namespace/name"; any may when there are none.
	Services []string
	// ListThenWatch makes the informers of its managers list first and watch then.
	ListThenWatch bool
}

func (p *Process) begin() {
	w := p.world
	p.lives++
	p.restart = nil
	p.startedAt = w.Sched.Now()
	l := &Life{Process: p, N: p.lives, Port: w.Wire.NewPort(p.Name, p.lives), world: w}
	l.Port.Owner = l
	l.Port.Attribute = Attribute
	l.identify()
	l.ctx, l.cancel = context.WithCancel(l.own(context.Background()))
	p.life = l
	w.lives = append(w.lives, l)
	w.History.Add(history.Event{Step: w.Sched.Steps(), At: w.Sched.Now(), Kind: history.Start, Process: p.Name, Life: l.N,
		Server: w.Wire.Server().Revision()})
	l.spawn(l.run)
}

// Life is the current life; nil while the process is down.
func (p *Process) Life() *Life { return p.life }

// Lives is how many lives there were, the current one included.
func (p *Process) Lives() int { return p.lives }
