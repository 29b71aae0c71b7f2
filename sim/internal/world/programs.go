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
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/user"
	"github.com/wavetank/wavetank/sim/result"
)

// programs start the programs under test, and start them again.
type programs struct {
	*core
	faults   *faults
	builtins *builtins
	rights   *rights
	setups   failedSetups
	users    func() []*user.User // who learn the types of each program
	ignored  []string            // functions whose goroutines may outlive their process
	versions map[string]*version // of the processes that are managers
}

// version is what the world knows of the versions of a process.
type version struct {
	options  ProcessOptions // of the latest
	upgrades int            // how many calls of w.Upgrade
	rollout  *sched.Action  // the latest, until it begins
}

// Start adds a process that is one manager.
func (p *programs) Start(name string, setup func(ctrl.Manager) error, o ProcessOptions) {
	if setup == nil {
		p.misuse("w.Start(%q) was given no setup function", name)
	}
	o.chooseUnset(name, p.choices)
	p.begin(name, o, managerMain(setup, o.Manager))
	p.versions[name] = &version{options: o}
}

// managerMain is the program that is one manager.
func managerMain(setup func(ctrl.Manager) error, o ctrl.Options) process.Main {
	return func(ctx context.Context, cfg *rest.Config) error {
		mgr, err := process.NewManager(cfg, o)
		if err != nil {
			return &setupError{err}
		}
		if err := mgr.Setup(setup); err != nil {
			return &setupError{err}
		}
		return mgr.Start(ctx)
	}
}

// Run adds a process that is any program.
func (p *programs) Run(name string, main func(ctx context.Context, cfg *rest.Config) error, o ProcessOptions) {
	if main == nil {
		p.misuse("w.Run(%q) was given no function", name)
	}
	other := o.Manager
	other.Scheme = nil
	if o.Vary || !reflect.ValueOf(other).IsZero() {
		p.misuse("w.Run(%q) makes no manager, so of sim.Options it takes the Scheme alone, and no sim.Vary; "+
			"give sim.NewManager the rest inside the program", name)
	}
	p.begin(name, o, main)
}

func (p *programs) begin(name string, o ProcessOptions, main process.Main) {
	p.panicIfInStep("w.Start or w.Run")
	if name == "" || name == run.User {
		p.misuse("a process cannot be called %q", name)
	}
	if p.procs.Find(name) != nil {
		p.misuse("two processes are called %q; a process's name names one program (its later incarnations "+
			"are started by the world)", name)
	}
	p.know(o)
	settings := p.deploy(name, &o, false)
	if p.found(name, main, settings) {
		return
	}
	p.rights.judge(p.procs.Start(name, main, settings), o)
	p.sched.Quiesce() // programs that start one after the other draw their random numbers in that order
}

// know makes the users know the types of a program.
func (p *programs) know(o ProcessOptions) {
	if s := o.Manager.Scheme; s != nil {
		for _, u := range p.users() {
			u.Know(s)
		}
	}
	p.ignored = append(p.ignored, o.IgnoredGoroutines...)
}

// deploy creates what the deployment of a process needs, or replaces it.
func (p *programs) deploy(name string, o *ProcessOptions, upgrade bool) process.Settings {
	p.rights.deploy(name, o, upgrade)
	return process.Settings{Account: p.account(name, *o), Services: o.Services, ListThenWatch: o.ListThenWatch}
}

// found takes the program out of the run, if that is what the run is made for. The program then
// runs outside that run. It reports whether the run is made for another program.
func (p *programs) found(name string, main process.Main, s process.Settings) (other bool) {
	h := p.settings.Hosting
	if h == nil {
		return false
	}
	if h.Process == name {
		h.Main, h.Account, h.ListThenWatch = main, s.Account, s.ListThenWatch
		h.InSetup = func(err error) bool { return errors.As(err, new(*setupError)) }
		panic(stopRun{})
	}
	return true
}

// account checks what As was given. It is "" for a process that is an administrator.
func (p *programs) account(process string, o ProcessOptions) string {
	if o.As == nil {
		return ""
	}
	namespace, name, ok := strings.Cut(*o.As, "/")
	if !ok || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		p.misuse("process %q runs as %q, which is no ServiceAccount; write sim.As(\"namespace/name\")", process, *o.As)
	}
	if aggregation := rbac.Aggregation(); !p.builtins.has(aggregation.Name()) {
		p.builtins.Builtin(aggregation)
	}
	return *o.As
}

// Stop asks a process to end, as SIGTERM does.
func (p *programs) Stop(name string) {
	p.panicIfOver()
	asked := p.procs.Find(name)
	if asked == nil {
		p.misuse("w.Stop(%q): there is no such process", name)
	}
	if l := asked.Current(); l != nil {
		l.Stop()
	}
}

// setupError is what NewManager or the setup function returned, before anything ran.
type setupError struct{ error }

// Unwrap implements the interface of package errors.
func (s *setupError) Unwrap() error { return s.error }

// exited decides whether the kubelet starts a program again that has ended by itself. If not, the
// run ends.
func (p *programs) exited(l *process.Incarnation, err error) (restart bool) {
	if far := (*child.Exit)(nil); errors.As(err, &far) && far.Setup {
		err = &setupError{far}
	}
	var bad *setupError
	var panicked *process.PanicError
	name := l.Port.Process
	switch {
	case errors.As(err, &panicked):
		value := run.WithoutAddresses(fmt.Sprint(panicked.Value))
		message := fmt.Sprintf("process %q panicked outside a reconcile: %v\n%s", name, value, panicked.Stack)
		p.exit = misuse("%s", message)
		if p.faults.declared.Armed() { // it may take that fault: a run to be shrunk, kept and replayed
			p.exit = &result.Ending{Kind: result.Panic, Message: message}
		}
	case errors.As(err, &bad) && l.First() && !p.faults.declared.Armed():
		p.exit = misuse("the setup function of process %q failed: %v%s", name, bad.error, user.SchemeHint(bad.error))
	case errors.As(err, &bad):
		// It has worked before, or it took a fault. The kubelet starts it again, and a world in
		// which that never helps does not settle.
		p.setups[name] = failedSetup{l.Port.Incarnation, bad.error}
		if !p.faults.declared.Armed() {
			message := p.setups.of(name, l.Port.Incarnation)
			message += ", and no fault is in the way: the kubelet never stops starting it again"
			p.exit = &result.Ending{Kind: result.Settles, Property: worldSettles, Message: message}
		}
	}
	return p.exit == nil
}

// failedSetups are the setup functions that have failed last, by process.
type failedSetups map[string]failedSetup

// failedSetup is how the setup function of a process failed, and in which incarnation.
type failedSetup struct {
	incarnation int
	err         error
}

// of says that a process is down because the setup function of this incarnation failed, its last
// one; "" if it did not.
func (f failedSetups) of(process string, incarnation int) string {
	failed, ok := f[process]
	if !ok || failed.incarnation != incarnation {
		return ""
	}
	return fmt.Sprintf("the setup function of process %q failed in incarnation %d: %v", process, incarnation,
		failed.err)
}
