package process

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file is the side of an incarnation that is an operating system process of its own.

// Hosted is such an incarnation, in its process.
type Hosted struct {
	Launch child.Launch
	link   *child.Link

	sched   *sched.Scheduler
	history *history.History
	procs   *Supervisor
	of      *Process
	turns   chan *child.Turn
	wire    *wire.Far
	ids     map[*sched.Action]int64
	last    int64
	sent    int // events that were reported
	exit    *child.Exit
}

// Hosts waits for what this incarnation is. The process ends when the world does.
func Hosts() (*Hosted, error) {
	link, err := child.Inherited()
	if err != nil {
		return nil, err
	}
	m, err := link.Receive()
	if err != nil || m.Launch == nil {
		return nil, fmt.Errorf("the world has ended: %w", err)
	}
	return &Hosted{Launch: *m.Launch, link: link, turns: make(chan *child.Turn, 1), ids: map[*sched.Action]int64{}}, nil
}

// Refuse says that the program cannot be had in this process.
func (h *Hosted) Refuse(why string) { h.say(child.Message{Report: &child.Report{Refused: why}}) }

func (h *Hosted) say(m child.Message) {
	if h.link.Send(m) != nil {
		os.Exit(1) // the world has ended
	}
}

// Serve runs the program until the world ends it. mapper knows the kinds of the API server. failed
// reports whether an error is that of the program's setup function.
func (h *Hosted) Serve(main Main, s Settings, mapper meta.RESTMapper, log logr.Logger, failed func(error) bool) {
	h.wire = &wire.Far{Send: func(s wire.Sent) { h.say(child.Message{Sent: &s}) },
		Cancel: func(id int64) { h.say(child.Message{Cancel: id}) }}
	o := &hostedObserver{h, failed}
	var choices choice.Sequence
	if h.Launch.Incarnation == 1 { // later ones do not know how many choices there were before them
		choices = h.Launch.Choices
	}
	h.sched = sched.New(choice.New(choice.Play(choices)), o)
	h.sched.Wait = sched.AwaitQuiet
	h.sched.SetNow(h.Launch.Now)
	h.history = &history.History{}
	network := wire.New(h.sched, h.history, apiserver.New(apiserver.Options{Now: time.Now}), nil)
	network.Far = h.wire
	network.Use(programKinds{mapper: mapper})
	h.procs = New(h.sched, h.history, network, log, o)
	h.procs.ScriptedTimers = !h.Launch.Paced
	h.procs.InChild = true
	reseed(uint64(time.Now().UnixNano())) // no two incarnations draw the same
	go h.read()
	h.of = h.procs.start(&program{Name: h.Launch.Process, main: main, settings: s}, h.Launch.Incarnation-1)
	i := h.of.current
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	h.sched.Quiesce()
	h.report()
	for t := range h.turns {
		select {
		case <-asked:
			i.terminate()
		default:
		}
		h.take(t)
	}
}

// read takes the messages of the world.
func (h *Hosted) read() {
	for {
		m, err := h.link.Receive()
		if err != nil {
			os.Exit(1)
		}
		switch {
		case m.Answer != nil:
			h.wire.Take(*m.Answer)
		case m.Turn != nil:
			h.turns <- m.Turn
		}
	}
}

func (h *Hosted) take(t *child.Turn) {
	h.sched.SetNow(t.Now)
	h.sched.SetCurrent(nil)
	if t.Cause != nil {
		h.sched.SetCurrent(*t.Cause)
	}
	h.sched.Quiesce() // what the world has answered arrives before
	if t.Perform != 0 {
		for _, a := range h.sched.Pending() {
			if h.ids[a] == t.Perform {
				h.sched.Perform(a)
			}
		}
	}
	if t.Fire != "" {
		h.procs.FireTimer(func(words string) bool { return words == t.Fire })
		h.sched.Quiesce()
	}
	if t.Inspect {
		h.procs.Inspect()
		h.sched.Quiesce()
	}
	h.report()
}

func (h *Hosted) report() {
	over := h.of.current == nil
	r := &child.Report{Crashed: over && h.exit == nil, Exit: h.exit}
	for _, e := range h.history.Events[h.sent:] {
		switch e.Kind {
		case history.Dequeue, history.Done, history.HandledError, history.HandlerPause, history.Mutation:
			r.Events = append(r.Events, e)
		}
	}
	h.sent = len(h.history.Events)
	if over {
		h.say(child.Message{Report: r})
		return
	}
	for _, a := range h.sched.Pending() {
		if h.ids[a] == 0 {
			h.last++
			h.ids[a] = h.last
		}
		f := child.Action{ID: h.ids[a], Order: a.Order, Actor: a.Actor.Process, Of: a.Actor.Name, Words: a.Words(),
			Idle: a.Idle, Chatter: a.Chatter}
		if a.Detail != nil {
			f.HasDetail, f.Detail = true, a.Detail()
		}
		r.Actions = append(r.Actions, f)
	}
	for _, c := range h.procs.Controllers() {
		for _, t := range c.Timers() {
			r.Timers = append(r.Timers, c.q.handOut(t.Item))
		}
	}
	h.say(child.Message{Report: r})
}

// programKinds is the API server as the program's manager asks for its kinds. All requests go to
// the world.
type programKinds struct {
	wire.Backend
	mapper meta.RESTMapper
}

func (p programKinds) Mapper() meta.RESTMapper { return p.mapper }
func (programKinds) Revision() int64           { return 0 }

// AskWebhooks does nothing: the world serves the requests, so no webhook is called here.
func (programKinds) AskWebhooks(func(*apiserver.WebhookCall, func(apiserver.WebhookAnswer))) {}

// hostedObserver is the world as the program's scheduler and its supervisor know it.
type hostedObserver struct {
	*Hosted
	failed func(error) bool
}

func (h *hostedObserver) Quiet() bool                    { return h.procs.Flush() }
func (*hostedObserver) Stepped()                         {}
func (*hostedObserver) Held(*sched.Action) time.Duration { return 0 }

func (*hostedObserver) Dequeued(*Incarnation, string, reconcile.Request) {}

// Exited keeps how the program has ended for the next report.
func (h *hostedObserver) Exited(_ *Incarnation, err error) (restart bool) {
	h.exit = &child.Exit{}
	var panicked *PanicError
	switch {
	case errors.As(err, &panicked):
		h.exit.Panic, h.exit.Stack = fmt.Sprint(panicked.Value), panicked.Stack
	case err != nil:
		h.exit.Message, h.exit.Setup = err.Error(), h.failed(err)
	}
	return false
}

// Dialled ends an incarnation that dials an address by itself.
func (h *hostedObserver) Dialled(_, address, at string, _ bool) {
	h.Refuse(fmt.Sprintf("the program dials %s itself at %s", address, at))
}
