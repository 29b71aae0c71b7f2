package world

import (
	"errors"

	"github.com/wavetank/wavetank/sim/internal/process"
)

// This file lets incarnations be processes of their own. In such a process the scenario is run in a
// simulated cluster, with the choices of the story, as far as it starts the program. The program
// then runs outside that run. Other programs are not started there.

// found takes the program out of the run, if that is what the run is made for. It reports whether
// the run is made for another program.
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

// children says how incarnations are started as processes of their own; nil if they are not.
func (r *real) children() *process.Children {
	if r.Child == nil {
		return nil
	}
	return &process.Children{Command: r.Child, Refused: r.refuse,
		Launch: process.Launch{Choices: r.Choices, Kubeconfig: r.Kubeconfig, Paced: r.Paced}}
}

// withSetup is the error of a program as the program itself knows it: it may have ended in another
// process.
func withSetup(err error) error {
	if far := (*process.FarExit)(nil); errors.As(err, &far) && far.Setup {
		return &setupError{far}
	}
	return err
}
