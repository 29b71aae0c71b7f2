package world

import (
	"slices"
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/bubble"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// runner makes the runs of one scenario.
type runner struct {
	scenario func(*World)
	// undisturbed are the undisturbed runs that were compared with last, for other drawn values
	// each.
	undisturbed []*drawnRun
	defaults    *history.History // of the run with no choice but default choices; nil if it was not made
	left        left
}

// drawnRun is the run with some drawn values in which every other choice is the default choice.
type drawnRun struct {
	drawn   choice.Sequence
	history *history.History
	redrawn *history.History // the same run with other random values, once it was asked for
	asked   bool
}

// mostUndisturbed is how many undisturbed runs are kept. Shrinking goes back and forth between few
// sets of drawn values.
const mostUndisturbed = 8

// Runner makes the runs of a scenario.
func Runner(scenario func(*World)) run.Runner { return (&runner{scenario: scenario}).run }

// run makes one run. A run that has connected to the real network has failed.
func (r *runner) run(t *testing.T, o choice.Source, s run.Settings) *run.Result {
	if s.Monitor == nil {
		s.Monitor = &run.Monitor{}
	}
	if s.Real != nil { // it has connected, and nothing is compared with it
		return r.once(t, o, s, toJudge).Result
	}
	dials := process.Dials()
	a := r.compared(t, o, s)
	if process.Dials() != dials && a.Ending.Kind != result.Misuse {
		r.failConnected(t, a.Result, s)
	}
	r.left.confirm(a, func() *attempt { return r.compared(t, choice.Play(a.Choices), s) })
	return a.Result
}

// compared makes a run. When it asks for an undisturbed run that is not there, it is given up, that
// one is made, and the run is made again with the same answers as far as it had come. A run that
// asks for an undisturbed run with other random values continues to its end before it is repeated.
func (r *runner) compared(t *testing.T, o choice.Source, s run.Settings) *attempt {
	var answers []choice.Answer
	for {
		a := r.once(t, choice.Continue(answers, o), s, toJudge)
		switch {
		case a.wants && a.defaults:
			r.defaults = r.once(t, choice.Play(nil), s, toBegin).History
		case a.wants:
			r.addUndisturbed(t, a.source.Sequence().Drawn(), s)
		case !r.redraw(t, s):
			return a
		}
		answers = a.Log
	}
}

func (r *runner) addUndisturbed(t *testing.T, drawn choice.Sequence, s run.Settings) {
	u := &drawnRun{drawn: drawn, history: r.once(t, choice.Play(drawn), s, toCompare).History}
	u.history.Redrawn = func() *history.History {
		u.asked = true
		return u.redrawn
	}
	if len(r.undisturbed) == mostUndisturbed {
		r.undisturbed = slices.Delete(r.undisturbed, 0, 1)
	}
	r.undisturbed = append(r.undisturbed, u)
}

// redraw makes the undisturbed runs with other random values that were asked for and are not there.
// It reports whether there were any.
func (r *runner) redraw(t *testing.T, s run.Settings) (any bool) {
	for _, u := range r.undisturbed {
		if u.asked && u.redrawn == nil {
			u.redrawn = r.once(t, choice.Redraw(choice.Play(u.drawn)), s, toRedraw).History
			any = true
		}
	}
	return any
}

// find is the undisturbed run with some drawn values; nil if it was not made or is no longer kept.
func (r *runner) find(drawn choice.Sequence) *history.History {
	for _, u := range r.undisturbed {
		if slices.Equal(u.drawn, drawn) {
			return u.history
		}
	}
	return nil
}

// failConnected makes a run fail that has connected to the real network. The count does not say who
// did, so the run is made again, with a record of who dials. If it does not connect then, it was
// perhaps something else in the process.
func (r *runner) failConnected(t *testing.T, res *run.Result, s run.Settings) {
	at := process.RecordDials()
	r.compared(t, choice.Play(res.Choices), s)
	site, byHTTP := at()
	if site == "" {
		res.Strayed = true
		return
	}
	res.Ending = *misuse("%s", run.ConnectedAt(site, byHTTP))
	res.Ending.Step, res.Ending.At = res.Steps, res.Virtual
}

// once makes one run: the scenario, in a bubble of its own, with every choice answered by the
// source. An undisturbed run has nothing to compare itself with.
func (r *runner) once(t *testing.T, o choice.Source, s run.Settings, p purpose) *attempt {
	if p != toJudge {
		s.Fresh = nil
	}
	if s.Fresh != nil {
		s.Fresh.Reached, s.Fresh.Delivered = false, 0
	}
	a := &attempt{Result: &run.Result{History: &history.History{}}, settings: s, source: choice.New(o), purpose: p}
	if s.Window > 0 {
		a.History = history.Forgetful()
		a.source.OnlySequence()
	}
	s.Monitor.Latest.Store(&run.InProgress{Choices: a.source, History: a.History, Dials: process.Dials()})
	s.Monitor.UnderWay.Store(true)
	defer s.Monitor.UnderWay.Store(false)
	failed := t.Failed()
	a.skipped = t.Skipped
	a.testFailed = func() bool { return t.Failed() && !failed }
	inBubble := func(bt *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			run.Scenario(func() { r.live(bt, a) })
		}()
		<-done
	}
	var err error
	if s.Real != nil {
		a.Course = &run.Course{Names: map[string]string{}}
		a.source = choice.New(inScript(a.Course, o))
		inBubble(t)
	} else {
		err = bubble.Run(t, inBubble)
	}
	if a.carried != nil {
		panic(a.carried)
	}
	a.endOutside(err, a.testFailed())
	r.left.note(a.left.Places())
	a.Log, a.Choices = a.source.Log(), a.source.Sequence()
	for _, o := range run.OutcomesOf(a.History.Events) {
		a.Outcomes = run.AddOutcomes(a.Outcomes, o)
	}
	a.Refused = run.RefusedOf(a.History.Events)
	a.Unmodelled = run.UnmodelledOf(a.History.Events, apiserver.DoesNotModel)
	a.Reconciles, a.Requests = a.History.Count(history.Dequeue), a.History.Count(history.Request)
	return a
}

// drain is the virtual time in which goroutines of dead incarnations may wake, find that their
// connection is gone, and end: libraries that take no context poll for as long as they were told
// to, and time stops with the run.
const drain = 10 * time.Minute

// live builds the world, runs the scenario and tears everything down. It is called inside the
// bubble.
func (r *runner) live(bt *testing.T, a *attempt) {
	defer underWay.Store(nil)
	returned := false
	defer func() {
		v := recover()
		if a.world == nil { // the choice source itself gave up
			if s, ok := v.(run.Stopped); ok {
				v = s.Value
			}
			a.carried = v
			return
		}
		a.endInside(v, returned)
		a.tearDown()
		if a.settings.Real == nil {
			time.Sleep(drain)
		}
	}()
	process.Seed(bt, uint64(a.source.Choose(story.Label{Kind: story.Seed}, 1<<16)))
	w := newWorld(a.source, a.History, a.settings, a.Course, a.testFailed)
	a.world = w
	w.redrawn = a.purpose == toRedraw
	if a.purpose == toJudge {
		w.findUndisturbed = r.find
	} else {
		w.judge.passes = true // it is there to be compared with, and not to be judged
	}
	if a.purpose != toBegin {
		w.findDefault = func() *history.History {
			a.defaults = r.defaults == nil
			return r.defaults
		}
	}
	underWay.Store(w)
	r.scenario(w)
	w.inspectCaches()
	w.failIfReported()
	w.judgeAll(result.Always)
	w.judgeAll(result.Sometimes)
	w.refuseUnjudged()
	returned = true
}

// inScript asks a source for the choices of a run at a real server, whose names differ from those
// of the script.
func inScript(c *run.Course, source choice.Source) choice.Source {
	return choice.Func(func(p choice.Point) int {
		if len(c.Names) > 0 {
			p.Who, p.What = c.InScript(p.Who), c.InScript(p.What)
		}
		return source.Choose(p)
	})
}
