package world

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/models/rbac"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/user"
	"github.com/wavetank/wavetank/sim/result"
)

// programs is what a world knows about its programs besides their processes.
type programs struct {
	// failures are the setup functions that have failed last.
	failures map[*process.Process]failedSetup
	// ignored are the functions whose goroutines may outlive their process.
	ignored []string
}

// failedSetup is how the setup function of a process failed, and in which incarnation.
type failedSetup struct {
	incarnation int
	err         error
}

// setupFailure says that a process is down because its setup function failed; "" if it is not.
func (p *programs) setupFailure(of *process.Process) string {
	f, ok := p.failures[of]
	if !ok || f.incarnation != of.Incarnations() {
		return ""
	}
	return fmt.Sprintf("the setup function of process %q failed in incarnation %d: %v", of.Name, f.incarnation, f.err)
}

// Start adds a process that is one manager.
func (w *World) Start(name string, setup func(ctrl.Manager) error, o ProcessOptions) {
	if setup == nil {
		w.misuse("w.Start(%q) was given no setup function", name)
	}
	o.chooseUnset(name, w.choices)
	w.begin(name, o, func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := process.NewManager(cfg, o.Manager)
		if err != nil {
			return &setupError{err}
		}
		if err := mgr.Setup(setup); err != nil {
			return &setupError{err}
		}
		return mgr.Start(ctx)
	})
}

// Run adds a process that is any program.
func (w *World) Run(name string, main func(ctx context.Context, cfg *rest.Config) error, o ProcessOptions) {
	if main == nil {
		w.misuse("w.Run(%q) was given no function", name)
	}
	other := o.Manager
	other.Scheme = nil
	if o.Vary || !reflect.ValueOf(other).IsZero() {
		w.misuse("w.Run(%q) makes no manager, so of sim.Options it takes the Scheme alone, and no sim.Vary; "+
			"give sim.NewManager the rest inside the program", name)
	}
	w.begin(name, o, main)
}

func (w *World) begin(name string, o ProcessOptions, main process.Main) {
	w.panicIfInStep("w.Start or w.Run")
	if name == "" || name == run.User {
		w.misuse("a process cannot be called %q", name)
	}
	if w.procs.Find(name) != nil {
		w.misuse("two processes are called %q; a process's name names one program (its later incarnations "+
			"are started by the world)", name)
	}
	if s := o.Manager.Scheme; s != nil {
		w.user.Know(s)
		for _, c := range w.clusters {
			c.user.Know(s)
		}
	}
	w.programs.ignored = append(w.programs.ignored, o.IgnoredGoroutines...)
	w.deploy(name, &o)
	p := w.procs.Start(name, main, process.Settings{
		Account: w.account(name, o), Services: o.Services, ListThenWatch: o.ListThenWatch,
	})
	if len(o.Deployed) > 0 {
		w.rights.deployed = append(w.rights.deployed, p)
		w.rights.elects = w.rights.elects || o.Manager.LeaderElection
	}
	w.sched.Quiesce() // programs that start one after the other draw their random numbers in that order
}

// account checks what As was given. It is "" for a process that is an administrator.
func (w *World) account(process string, o ProcessOptions) string {
	if o.As == nil {
		return ""
	}
	namespace, name, ok := strings.Cut(*o.As, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		w.misuse("process %q runs as %q, which is no ServiceAccount; write sim.As(\"namespace/name\")", process, *o.As)
	}
	if aggregation := rbac.Aggregation(); !w.builtins.has(aggregation.Name()) {
		w.Builtin(aggregation)
	}
	return *o.As
}

// Stop asks a process to end, as SIGTERM does.
func (w *World) Stop(name string) {
	w.panicIfOver()
	p := w.procs.Find(name)
	if p == nil {
		w.misuse("w.Stop(%q): there is no such process", name)
	}
	if l := p.Current(); l != nil {
		l.Stop()
	}
}

// setupError is what NewManager or the setup function returned, before anything ran.
type setupError struct{ error }

// Unwrap implements the interface of package errors.
func (e *setupError) Unwrap() error { return e.error }

// exited decides whether the kubelet starts a program again that has ended by itself. If not, the
// run ends.
func (w *World) exited(l *process.Incarnation, err error) (restart bool) {
	var bad *setupError
	var panicked *process.PanicError
	name := l.Process.Name
	switch {
	case errors.As(err, &panicked):
		value := run.WithoutAddresses(fmt.Sprint(panicked.Value))
		message := fmt.Sprintf("process %q panicked outside a reconcile: %v\n%s", name, value, panicked.Stack)
		w.exit = misuse("%s", message)
		if w.faults.Armed() { // it may take that fault: a run to be shrunk, kept and replayed
			w.exit = &result.Ending{Kind: result.Panic, Message: message}
		}
	case errors.As(err, &bad) && l.N == 1 && !w.faults.Armed():
		w.exit = misuse("the setup function of process %q failed: %v%s", name, bad.error, user.SchemeHint(bad.error))
	case errors.As(err, &bad):
		// It has worked before, or it took a fault. The kubelet starts it again, and a world in
		// which that never helps does not settle.
		w.programs.failures[l.Process] = failedSetup{l.N, bad.error}
		if !w.faults.Armed() {
			message := w.programs.setupFailure(l.Process)
			message += ", and no fault is in the way: the kubelet starts it again for ever"
			w.exit = &result.Ending{Kind: result.Settles, Property: worldSettles, Message: message}
		}
	}
	return w.exit == nil
}
