package sim

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
	"github.com/wavetank/wavetank/sim/internal/user"
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
	if !ok || f.incarnation != of.Lives() {
		return ""
	}
	return fmt.Sprintf("the setup function of process %q failed in life %d: %v", of.Name, f.incarnation, f.err)
}

// Start adds a process that is one manager. setup is the function that the operator ships, called
// afresh for each incarnation.
func (w *World) Start(name string, setup func(ctrl.Manager) error, opts ...ProcessOption) {
	o := processOptionsOf(opts)
	if setup == nil {
		w.misuse("w.Start(%q) was given no setup function", name)
	}
	o.chooseUnset(name, w.choices)
	w.begin(name, o, func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := process.NewManager(cfg, o.manager)
		if err != nil {
			return &setupError{err}
		}
		if err := mgr.Setup(setup); err != nil {
			return &setupError{err}
		}
		return mgr.Start(ctx)
	})
}

// Run adds a process that is any program: main is called afresh for each incarnation and must
// return when ctx is done. The program reaches the cluster through cfg. One that makes managers
// itself uses [NewManager], to which it gives its ctrl.Options. Of those given here by [Options]
// only the Scheme counts, for [World.Client] and [World.Apply]; others are refused.
func (w *World) Run(name string, main func(ctx context.Context, cfg *rest.Config) error, opts ...ProcessOption) {
	if main == nil {
		w.misuse("w.Run(%q) was given no function", name)
	}
	o := processOptionsOf(opts)
	other := o.manager
	other.Scheme = nil
	if o.vary || !reflect.ValueOf(other).IsZero() {
		w.misuse("w.Run(%q) makes no manager, so of sim.Options it takes the Scheme alone, and no sim.Vary; "+
			"give sim.NewManager the rest inside the program", name)
	}
	w.begin(name, o, main)
}

func (w *World) begin(name string, o processOptions, main process.Main) {
	w.panicIfInStep("w.Start or w.Run")
	if name == "" || name == user.Name {
		w.misuse("a process cannot be called %q", name)
	}
	if w.procs.Find(name) != nil {
		w.misuse("two processes are called %q; a process's name names one program (its later lives are started by the "+
			"world)", name)
	}
	if s := o.manager.Scheme; s != nil {
		w.user.Know(s)
		for _, c := range w.clusters {
			c.user.Know(s)
		}
	}
	w.programs.ignored = append(w.programs.ignored, o.ignored...)
	w.procs.Start(name, main, process.Settings{
		Account: w.account(name, o), Services: o.services, ListThenWatch: o.listThenWatch,
	})
	w.sched.Quiesce() // programs that start one after the other draw their dice one after the other
}

// account checks what As was given. It is "" for a process that is an administrator.
func (w *World) account(process string, o processOptions) string {
	if o.as == nil {
		return ""
	}
	namespace, name, ok := strings.Cut(*o.as, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		w.misuse("process %q runs as %q, which is no ServiceAccount; write sim.As(\"namespace/name\")", process, *o.as)
	}
	if aggregation := rbac.Aggregation(); !w.builtins.has(aggregation.Name()) {
		w.Builtin(aggregation)
	}
	return *o.as
}

// Stop asks a process to end, as SIGTERM does. The kubelet starts it again at once when it has
// ended.
func (w *World) Stop(name string) {
	w.panicIfOver()
	p := w.procs.Find(name)
	if p == nil {
		w.misuse("w.Stop(%q): there is no such process", name)
	}
	if l := p.Life(); l != nil {
		l.Stop()
	}
}

// setupError is what NewManager or the setup function returned, before anything ran.
type setupError struct{ error }

// Unwrap implements the interface of package errors.
func (e *setupError) Unwrap() error { return e.error }

// exited decides whether the kubelet starts a program again that has ended by itself. If not, the
// run ends.
func (w *World) exited(l *process.Life, err error) (restart bool) {
	var bad *setupError
	var panicked *process.PanicError
	name := l.Process.Name
	switch {
	case errors.As(err, &panicked):
		value := pointers.ReplaceAllString(fmt.Sprint(panicked.Value), "0x…")
		message := fmt.Sprintf("process %q panicked outside a reconcile: %v\n%s", name, value, panicked.Stack)
		w.pending = misuse("%s", message)
		if w.anyFault() { // it may take that fault: a run to be shrunk, kept and replayed
			w.pending = &Verdict{Temper: "panic", Message: message}
		}
	case errors.As(err, &bad) && l.N == 1 && !w.anyFault():
		w.pending = misuse("the setup function of process %q failed: %v%s", name, bad.error, user.SchemeHint(bad.error))
	case errors.As(err, &bad):
		// It has worked before, or it took a fault. The kubelet starts it again, and a world in
		// which that never helps does not settle.
		w.programs.failures[l.Process] = failedSetup{l.N, bad.error}
		if !w.anyFault() {
			w.pending = &Verdict{Temper: settles, Property: worldSettles, Message: w.programs.setupFailure(l.Process) +
				", and no fault is in the way: the kubelet starts it again for ever"}
		}
	}
	return w.pending == nil
}
