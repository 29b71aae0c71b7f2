package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/process"
)

// The first phase of a stretch, under faults, ends when the world is calm or after this much of it.
const (
	stormTime  = 3 * time.Minute
	stormSteps = 2000
)

// longestBackOff is the cap of controller-runtime's default rate limiter.
const longestBackOff = 1000 * time.Second

// patience is how long a program must have been silent to count as settled if it works without a manager, or beside its
// controllers, as a Runnable with a queue of its own does: its timers are its own. One that is never silent, as its informers hand out
// everything again every few minutes, counts as settled when nothing has changed for twice as long: whatever it had put off
// has been tried by then.
const patience = longestBackOff

// hush is how long nothing at all may have happened for the world to count as settled: libraries poll with timers that
// the harness does not see, cache synchronisation every 100 ms for one.
const hush = time.Second

// settling is what the world is in while w.Settle waits for it.
const settling = "w.Settle"

// murmur is how long nothing may have happened but reconciles that change nothing, and their Events: where many keys poll,
// the world is never hushed.
const murmur = time.Minute

// Settle lets the world run its course and judges every Eventually. First the world runs under faults for a while; then
// faults stop and are healed, scheduling becomes fair, and it runs until it has settled: nothing is due (where keys poll,
// nothing but reconciles that change nothing for a minute), and every delayed hand-out (back-off, RequeueAfter) that was
// pending has happened at least once since faults were healed and since the last write that changed an object other than
// Leases and Events; and every list or watch that failed, or that the server ended, has been tried again since then (or
// nobody did so for a minute, longer than a reflector waits). A program without a manager, or one that works beside its
// controllers, has settled when it has been silent for 1000 s, or when nothing has changed for twice that. That a timer of a
// program's own will feed a channel source, nobody can see before it does: let its period pass with [World.Sleep], as that which a
// model outside takes for something that an operator polls for; only while an object waits for its deletion, and its key comes back and asks
// outside, Settle goes on until nothing has changed for 2000 s. The schedules of CronJobs do not come round once faults have been
// healed, as one that does every minute would keep the world from settling: let them with [World.Sleep], too; what has come round
// meanwhile is late by then. A world that has
// not settled after three times the longest wait, or after -sim.max-steps, fails the run with what is pending; for an
// operator that writes on a period by design, [World.Without] has it judge what is there by then. Faults are on again afterwards.
func (w *World) Settle() {
	w.between("w.Settle")
	w.storm()
	w.heal()
	w.rest()
	w.strike()
}

// rest waits for quiescence, when faults have been healed, and judges.
func (w *World) rest() {
	settled := w.converge()
	w.lookInCaches()
	if settled {
		w.note(history.Event{Kind: history.Settled})
	}
	w.judge(always)
	w.judge(eventually)
	w.judge(sometimes)
}

// strike lets faults strike again that were healed.
func (w *World) strike() {
	w.healed = false
	w.sched.SetFair(false)
}

// storm is the first phase: choices decide, faults strike.
func (w *World) storm() {
	until := w.sched.Now() + stormTime
	steps := w.sched.Steps() + stormSteps
	for w.sched.Steps() < steps && w.sched.Now() < until {
		w.sched.Quiesce()
		w.endings()
		w.quiet.take(w)
		hushed := w.quiet.lastEvent + hush
		if w.calm() && len(w.timersBefore(until)) == 0 && w.sched.Now() >= hushed {
			return
		}
		if hushed > w.sched.Now() {
			w.sched.Step(min(until, hushed))
		} else {
			w.sched.Step(until)
		}
		w.bounded(settling)
	}
}

func (w *World) heal() {
	w.healed = true
	w.quiet.healed, w.quiet.healedAt = w.history.Len()-1, w.sched.Now()
	w.sched.SetFair(true)
	for _, f := range w.faults {
		if f, ok := f.(healer); ok {
			f.heal(w)
		}
	}
	w.sched.Hurry()
	if w.anyFault() {
		w.note(history.Event{Kind: history.Heal})
	}
}

func (w *World) anyFault() bool {
	for _, f := range w.faults {
		if f.core().eager > 0 {
			return true
		}
	}
	return false
}

// converge is the second phase. It reports whether the world settled: it need not when that property is off.
func (w *World) converge() bool {
	begun := w.sched.Now()
	w.procs.LongestWait()
	limit := begun + 3*max(longestBackOff, w.longestWait())
	for {
		w.sched.Quiesce()
		w.endings()
		w.quiet.take(w)
		ok, again := w.settled()
		if ok {
			return true
		}
		limit = max(limit, begun+3*max(w.procs.LongestWait(), w.longestStep()))
		if len(w.lastAsked()) > 0 || w.quiet.awaits(w.procs) { // what was written late has to be waited for, too, but not for ever
			limit = max(limit, min(w.quiet.wrote.At+2*patience, begun+3*longestBackOff+2*patience))
		}
		if again <= w.sched.Now() {
			again = limit
		}
		if !w.sched.Step(min(limit, again)) && w.sched.Now() >= limit {
			if ok, _ := w.settled(); ok || slices.Contains(w.without, settles) {
				return ok
			}
			w.unsettled(fmt.Sprintf("within %v, three times the longest wait", limit-begun))
		}
		if w.sched.Steps() > w.settings.maxSteps && slices.Contains(w.without, settles) {
			return false
		}
		w.bounded(settling)
	}
}

// calm says whether nothing is under way: every action that is left is idle chatter or a timer.
func (w *World) calm() bool {
	return w.sched.Idle() && !slices.ContainsFunc(w.procs.Controllers(), process.Controller.IsBusy)
}

// timersBefore are the delayed hand-outs that are due by then.
func (w *World) timersBefore(until time.Duration) []string {
	var out []string
	for _, c := range w.procs.Controllers() {
		for _, t := range c.Timers() {
			if t.Due <= until {
				out = append(out, fmt.Sprintf("%s of %s %s, due %s", t.What, c.Name, t.Item, history.Clock(t.Due)))
			}
		}
	}
	return out
}

func (w *World) longestWait() time.Duration {
	var longest time.Duration
	for _, c := range w.procs.Controllers() {
		c.EachTimer(func(t process.Timer) bool { longest = max(longest, t.Delay); return true })
	}
	return longest
}

// longestStep is the longest that a built-in controller puts a step off.
func (w *World) longestStep() time.Duration {
	var longest time.Duration
	for _, b := range w.builtins {
		for _, s := range b.steps {
			if !s.action.Seasonal { // that may be years, and nobody waits for it
				longest = max(longest, s.action.Own)
			}
		}
	}
	return longest
}

// settled says whether nothing is left to do. If not, and if silence alone could settle the world, again is when.
func (w *World) settled() (ok bool, again time.Duration) {
	if !w.calm() || w.procs.Starting() != "" || w.procs.MissingWatch() != "" {
		return false, 0
	}
	for _, c := range w.procs.Controllers() {
		fired := true
		c.EachTimer(func(t process.Timer) bool { fired = t.Fired > w.quiet.changed(); return fired })
		if !fired {
			return false, 0
		}
	}
	if !w.retried() {
		return false, 0
	}
	unchanged := w.quiet.unchanged()
	again = min(w.quiet.lastEvent+hush, w.quiet.lastOther+murmur, unchanged+2*patience)
	for _, s := range w.wire.LostWatches() {
		if s.Tried <= w.quiet.changed() {
			again = max(again, s.Until())
		}
	}
	for _, at := range w.lastAsked() {
		again = max(again, min(at+patience, unchanged+2*patience))
	}
	if w.quiet.awaits(w.procs) {
		again = max(again, unchanged+2*patience)
	}
	return w.sched.Now() >= again, again
}

// lastAsked is when living programs that have timers of their own last asked for something, or were answered: those without a
// manager, and those that work beside its controllers.
func (w *World) lastAsked() (out []history.Time) {
	for _, p := range w.procs.Processes() {
		asked := w.quiet.heard
		if l := p.Current(); l == nil {
			continue
		} else if l.Managed() {
			asked = w.quiet.beside
		}
		if at, ok := asked[p.Name]; ok {
			out = append(out, at)
		}
	}
	return out
}

// unsettled ends the run with a sentence about what is still pending.
func (w *World) unsettled(bound string) {
	var pending []string
	for _, a := range w.sched.Pending() {
		if !a.Idle && len(pending) < 4 {
			pending = append(pending, fmt.Sprintf("%s (since %s, due %s)", a.What(), history.Clock(a.Since()), history.Clock(a.Due())))
		}
	}
	for _, s := range []string{w.procs.Starting(), w.procs.MissingWatch()} {
		if s != "" {
			pending = append(pending, s)
		}
	}
	for _, c := range w.procs.Controllers() {
		pending = append(pending, c.Busy()...)
	}
	pending = append(pending, w.timersBefore(1<<62)...)
	if len(pending) == 0 {
		pending = append(pending, "nothing that the harness can see; a program without a manager, or beside its controllers, keeps writing or asking")
	}
	if len(pending) > 8 {
		pending = append(pending[:8], fmt.Sprintf("and %d more", len(pending)-8))
	}
	msg := fmt.Sprintf("the world did not settle %s: pending are %s", bound, strings.Join(pending, "; "))
	if e := &w.quiet.wrote; w.quiet.lastWrite >= 0 {
		msg += fmt.Sprintf("; the last write was %s %s by %s at %s", e.Verb, e.Ref, e.Actor(), history.Clock(e.At))
		msg += w.written()
	}
	for _, p := range w.procs.Processes() {
		if why := w.unreadiness(p); why != "" {
			msg += "; " + why
		}
	}
	for _, kind := range w.procs.Unserved() {
		msg += fmt.Sprintf("; the cluster does not serve %s, which was asked for: w.Install its definition before w.Start", kind)
	}
	w.fail(&Verdict{Temper: settles, Property: worldSettles, Message: msg})
}

// written says how often the object that was written last has been written since faults ended, and how to allow that.
func (w *World) written() string {
	last, n, before := &w.quiet.wrote, 0, time.Duration(0)
	for _, e := range w.history.Events {
		for _, c := range e.Changes {
			if c.Ref == last.Ref && e.Process == last.Process && e.Index > w.quiet.healed {
				n++
				if e.Index < w.quiet.lastWrite {
					before = e.At
				}
			}
		}
	}
	if n < 3 {
		return ""
	}
	return fmt.Sprintf(", as %d times since faults ended, %v after the one before: if it is written on a period by design, say w.Without(%q); "+
		"w.Settle then waits as long, and judges without failing for that", n, last.At-before, settles)
}

// endings ends the run when a program ended in a way that no world can go on from.
func (w *World) endings() {
	w.raise()
	if w.pending != nil {
		w.fail(w.pending)
	}
}

// drive runs the world until a request of the user's has been answered.
func (w *World) drive(replied func() bool) {
	w.between("w.Apply, w.Remove or w.Client()")
	for !replied() {
		w.sched.Quiesce()
		w.endings()
		w.sched.Step(w.sched.Now() + time.Hour)
		w.bounded("w.Apply, w.Remove or w.Client()")
	}
}
