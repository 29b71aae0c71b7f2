package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file is the world's side of incarnations that are operating system processes of their own.
// Their requests take the world's wire. What waits in them, such as the dequeue of a key, waits in
// the world's scheduler, too. They end by SIGTERM and SIGKILL.

// Children say how such incarnations are started.
type Children struct {
	// Command returns the command that starts one.
	Command func() *exec.Cmd
	// Launch is what all incarnations have in common.
	Launch Launch
	// Refused is called if one cannot be had. It does not return.
	Refused func(why string)
}

// far is an incarnation in another process.
type far struct {
	of      *Incarnation
	cmd     *exec.Cmd
	link    *link
	pipes   []*os.File
	tmp     string // its temporary files
	output  tail
	reports chan *report
	gone    chan struct{} // closed when the process has ended
	killed  atomic.Bool
	arrived atomic.Int64 // requests so far

	mu      sync.Mutex
	cancels map[int64]context.CancelFunc

	waiting map[int64]*sched.Action
	timers  []string
}

// startupTime is how long an incarnation may take to begin.
const startupTime = time.Minute

// answerTime is how long an incarnation may take to become quiet.
const answerTime = 20 * time.Second

// launch starts the process of an incarnation and waits until the program runs.
func (c *Children) launch(i *Incarnation) {
	f := &far{of: i, cmd: c.Command(), reports: make(chan *report, 1), gone: make(chan struct{}),
		cancels: map[int64]context.CancelFunc{}, waiting: map[int64]*sched.Action{}}
	if err := f.start(); err != nil {
		_ = os.RemoveAll(f.tmp) // it is empty
		c.Refused(fmt.Sprintf("a process for %s does not start: %v", i.Name(), err))
		return
	}
	i.far = f
	l := c.Launch
	l.Process, l.Incarnation, l.Now = i.process, i.N, i.Sched.Now()
	_ = f.link.send(message{Launch: &l}) // if it has ended there is no report
	if r := f.report(startupTime); r == nil {
		c.Refused(fmt.Sprintf("the process of %s does not begin:\n%s", i.Name(), f.output.String()))
	} else {
		f.apply(r)
	}
}

func (f *far) start() error {
	tmp, err := os.MkdirTemp("", "incarnation")
	if err != nil {
		return err
	}
	f.tmp = tmp
	f.cmd.Env = append(f.cmd.Env, "TMPDIR="+tmp)
	childIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return errors.Join(err, childIn.Close(), in.Close())
	}
	f.cmd.ExtraFiles = []*os.File{childIn, childOut}
	f.cmd.Stdout, f.cmd.Stderr = &f.output, &f.output
	err = f.cmd.Start()
	_, _ = childIn.Close(), childOut.Close() // the child has its own
	f.pipes, f.link = []*os.File{in, out}, newLink(out, in)
	if err != nil {
		return errors.Join(err, in.Close(), out.Close())
	}
	go f.read()
	go func() {
		_ = f.cmd.Wait() // however it ends
		close(f.gone)
		f.of.Sched.Wake()
	}()
	return nil
}

// read takes the messages of the incarnation.
func (f *far) read() {
	for {
		var m message
		if f.link.in.Decode(&m) != nil {
			return
		}
		switch {
		case m.Sent != nil:
			ctx := context.WithValue(context.Background(), reconcileName{}, m.Sent.Reconcile)
			ctx, cancel := context.WithCancel(ctx)
			f.mu.Lock()
			f.cancels[m.Sent.ID] = cancel
			f.mu.Unlock()
			f.arrived.Add(1)
			go func() {
				f.of.Port.Carry(ctx, *m.Sent, func(a wire.Answer) {
					_ = f.link.send(message{Answer: &a}) // the incarnation may have ended
				})
				f.cancel(m.Sent.ID)
			}()
		case m.Cancel != 0:
			f.cancel(m.Cancel)
		case m.Report != nil:
			f.reports <- m.Report
		}
	}
}

func (f *far) cancel(id int64) {
	f.mu.Lock()
	cancel := f.cancels[id]
	delete(f.cancels, id)
	f.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// report waits for the next report; nil if none comes.
func (f *far) report(limit time.Duration) *report {
	select {
	case r := <-f.reports:
		return r
	case <-f.gone:
		select {
		case r := <-f.reports:
			return r
		default:
			return nil
		}
	case <-time.After(limit):
		return nil
	}
}

// turn has the incarnation do something. It reports whether the program has sent a request.
func (f *far) turn(t turnOf) (woke bool) {
	i := f.of
	if i.Port.Dead() {
		return false
	}
	before := f.arrived.Load()
	t.Now = i.Sched.Now()
	if c, ok := i.Sched.Current().(history.Cause); ok {
		t.Cause = &c
	}
	_ = f.link.send(message{Turn: &t}) // if it has ended there is no report
	r := f.report(answerTime)
	if r == nil {
		<-f.stopped()
		i.exit(&FarExit{Message: "its process has ended: " + f.cmd.ProcessState.String() + "\n" + f.output.String()})
		return true
	}
	f.apply(r)
	return before != f.arrived.Load()
}

// stopped kills a process that does not answer.
func (f *far) stopped() <-chan struct{} {
	_ = f.cmd.Process.Kill() // it may have ended
	return f.gone
}

// apply makes what waits in the incarnation, and what has happened there, known to the world.
func (f *far) apply(r *report) {
	i := f.of
	if r.Refused != "" {
		i.Children.Refused(r.Refused)
		return
	}
	for _, e := range r.Events {
		e.Step, e.At, e.Server = i.Sched.Steps(), i.Sched.Now(), i.Wire.Revision()
		i.History.Add(e)
		if e.Kind == history.Dequeue {
			i.Sched.SetCurrent(history.Cause{Kind: history.CauseReconcile, Of: e.Reconcile.String()})
			i.Process.observer.Dequeued(i, e.Reconcile.Controller, request{NamespacedName: types.NamespacedName{
				Namespace: e.Reconcile.Namespace, Name: e.Reconcile.Name}})
		}
		if i.Port.Dead() {
			return // a fault has ended it
		}
	}
	f.timers = r.Timers
	there := map[int64]bool{}
	for _, a := range r.Actions {
		there[a.ID] = true
		if f.waiting[a.ID] == nil {
			f.waiting[a.ID] = f.action(a)
			i.Sched.Park(f.waiting[a.ID])
		}
	}
	for id, a := range f.waiting {
		if !there[id] {
			i.Sched.Drop(a)
			delete(f.waiting, id)
		}
	}
	switch {
	case r.Crashed:
		i.Kill()
	case r.Exit != nil && r.Exit.Panic != "":
		i.exit(&PanicError{Value: r.Exit.Panic, Stack: r.Exit.Stack})
	case r.Exit != nil && r.Exit.Message == "":
		i.exit(nil)
	case r.Exit != nil:
		i.exit(r.Exit)
	}
}

// action is what waits in the incarnation, for the world's scheduler.
func (f *far) action(a farAction) *sched.Action {
	out := &sched.Action{Order: a.Order, Actor: choice.Actor{Process: a.Actor, Name: a.Of}, Idle: a.Idle,
		Chatter: a.Chatter, What: func() string { return a.Words }, Do: func() { f.turn(turnOf{Perform: a.ID}) }}
	if a.HasDetail {
		out.Detail = func() string { return a.Detail }
	}
	return out
}

// terminate sends SIGTERM. The incarnation takes it at its next turn.
func (f *far) terminate() {
	_ = f.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	time.Sleep(10 * time.Millisecond)
	f.of.Sched.Disturb()
}

// kill ends the process.
func (f *far) kill() {
	if f.killed.Swap(true) {
		return
	}
	for _, a := range f.waiting {
		f.of.Sched.Drop(a)
	}
	<-f.stopped()
	for _, p := range f.pipes {
		_ = p.Close() // nothing is sent any more
	}
	_ = os.RemoveAll(f.tmp) // as much as can be
}

// tail keeps the end of what a process prints. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const maxTail = 4000

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text.Write(p)
	t.text.Next(max(0, t.text.Len()-maxTail))
	return len(p), nil
}

// String is the end of what was printed.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.text.String())
}
