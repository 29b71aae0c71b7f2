package inject

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// Declaration is a fault as a scenario declares it. Every fault of package fault is one.
type Declaration interface {
	// Begin makes the fault of one run.
	Begin(env Env) Fault
}

// Fault is a declared fault in one run. It also implements the hooks below that it needs.
type Fault interface {
	// String is the fault as the scenario declared it.
	String() string
	// Declared is String in two parts: the name of the constructor, and what follows it.
	Declared() (class, rest string)
	// Check says why the world cannot have this fault, as the rest of a sentence that begins with
	// the fault.
	Check() error
	// Arm sets how often the fault is injected in this run: 0 is never, 1 rarely and 2 often.
	Arm(eagerness int)
	// Armed reports whether the fault may be injected in this run.
	Armed() bool
	// Count is what has become of the fault so far.
	Count() Count
}

// Count is what became of a fault in one run.
type Count struct {
	Fault                             string
	Class                             string // its constructor
	Opportunities, Injected, Observed int
	Classes                           []ClassCount
	Sites                             []SiteCount
}

// SiteCount is the same for the requests of one line of a program, of one sort.
type SiteCount struct {
	Source, Verb, Kind, Sub string // Kind is the host of a request to the outside
	When                    string // at which moment, for example "before"; "" for a fault that knows only one
	Opportunities, Injected int
}

// ClassCount is the same for one class of requests or watch events.
type ClassCount struct {
	choice.Class
	Opportunities, Injected int
}

// Waits counts the lags that met a program which waited for its own write to appear in its cache.
type Waits struct {
	Fault     string
	Cut       int           // lags that ended before the wait
	Longest   time.Duration // the longest of them
	Outlasted int           // lags during which a wait ended
}

// The hooks: the points of a run at which faults are asked.
type (
	// Arriver is asked when a request is about to take effect.
	Arriver interface {
		Arrive(c *wire.Call) wire.Ruling
	}
	// Lander is asked when a request has taken effect and its reply is about to leave.
	Lander interface {
		Landed(c *wire.Call) wire.Ruling
	}
	// ReplyDelayer says how much longer a reply takes.
	ReplyDelayer interface {
		ReplyDelay(c *wire.Call) time.Duration
	}
	// Lagger says how much later a watch event may reach its stream.
	Lagger interface {
		Lag(s *wire.Stream, f apiserver.Frame) time.Duration
	}
	// FateDecider is asked when a watch event is about to reach its stream.
	FateDecider interface {
		Fate(s *wire.Stream, f apiserver.Frame) wire.Fate
	}
	// WebhookCaller is asked when a call of the API server arrives at a webhook.
	WebhookCaller interface {
		Webhook(c *wire.Call) wire.Ruling
	}
	// StepDelayer says how much longer a built-in controller takes for a step.
	StepDelayer interface {
		StepDelay(actor, key string) time.Duration
	}
	// PodExiter decides how the containers of a Pod end that starts; 0 for nothing special. class
	// is what its name has in common with those of other runs.
	PodExiter interface {
		PodExit(p *corev1.Pod, class string) int32
	}
	// NodeTaker says for how long a node is lost; 0 for not at all.
	NodeTaker interface {
		NodeDown(node string) time.Duration
	}
	// Holder says until when an action may not happen; 0 for one that is free.
	Holder interface {
		Held(a *sched.Action) time.Duration
	}
	// Dequeuer observes the start of every reconcile, after its event has been recorded.
	Dequeuer interface {
		Dequeued(l *process.Incarnation, controller string, item reconcile.Request)
	}
	// Waiter reports how the lags of a fault compare with the waits of programs.
	Waiter interface{ Waits() Waits }
	// Ender observes the end of the faults.
	Ender interface{ End() }
)
