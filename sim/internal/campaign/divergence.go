package campaign

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/host"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/result"
)

// A doubled run is made twice from one choice sequence. What the two differ in does not come from
// the choices.
const (
	// furtherPairs is how often a doubled run that differs is repeated.
	furtherPairs = 10
	// repeatedRuns is how many doubled runs of one cause are repeated. What comes after them is
	// only counted.
	repeatedRuns = 3
)

// divergence is where two runs of one choice sequence differ.
type divergence struct {
	story.Divergence
	likely string
	second *run.Result
	asked  bool // they did the same, and asked for different choices
	timers bool // likely timers that are due at one instant
}

// verifier makes runs twice, and compares them.
type verifier struct {
	settings Settings
	runs     *executor
	keeper   *keeper
	progress *progress
	report   *result.Report
	repeated map[string]int // doubled runs that differed and were repeated, by cause
}

// runTwice makes a run again from its choices and compares the two histories. Runs that always
// differ fail the campaign. Runs that differ now and then, or in the text of an error alone, are a
// warning.
func (v *verifier) runTwice(i int, seed uint64, strategy string, first *run.Result) {
	v.report.Doubled++
	d, second := v.runAgain(first)
	if d == nil {
		return
	}
	d.First = i
	if d.Text || d.asked {
		v.addDivergence(d)
		return
	}
	broken := firstFailing(nil, second)
	if broken == nil || broken.Ending.Kind != result.TestFailed {
		always, b := v.alwaysDiffers(d)
		if always {
			f := &result.Failure{Ending: d.ending(), Run: i, Seed: seed, History: second.History.Rest()}
			v.keeper.addFailure(f, first.Choices, lengthOf(first), lengthOf(first))
			return
		}
		broken = firstFailing(broken, b)
	}
	v.addDivergence(d)
	if broken != nil { // the property is broken, whether or not the choices decide it
		v.keeper.addFailing(i, seed, strategy, broken, broken)
	}
}

// firstFailing is the first of two runs that broke a property by itself; nil if neither did.
func firstFailing(have, res *run.Result) *run.Result {
	if have == nil && res != nil && res.Ending.Failed() && res.Ending.Kind != result.Nondeterminism {
		return res
	}
	return have
}

// runAgain makes a run once more, and says where the two differ; nil if they do not.
func (v *verifier) runAgain(first *run.Result) (*divergence, *run.Result) {
	s := v.runs.settings
	s.First, s.Callers = first.History, true
	second := v.runs.executeWith(choice.Play(first.Choices), s)
	at, what := history.Divergence(first.History, second.History)
	text := at < 0
	if text {
		if at, what = history.Difference(first.History, second.History); at < 0 {
			return v.comparedChoices(first, second), second
		}
	}
	d := &divergence{second: second}
	d.Text, d.What, d.Runs, d.Command = text, what, 1, exactCommand(v.settings.Host)
	d.Step, d.At = second.Steps, second.Virtual
	if e := second.History.Events; len(e) > 0 && e[len(e)-1].Index >= at {
		parted := e[max(0, at-e[0].Index)]
		d.Step, d.At = parted.Step, parted.At
		d.Cause = differingText(&parted)
	}
	if !text {
		d.likely, d.Cause = likelyCause(first.History, second.History, at)
		if process := wokenByTimers(first, second, at); process != "" {
			d.Cause, d.timers = timersOf(process), true
			d.likely = "likely " + d.Cause
		}
		d.Goroutines = sendersOf(first, second, at)
	}
	return d, second
}

// comparedChoices says which choice one of two runs asked for and the other did not, although they
// did the same; nil if there is none. A seed leads to other runs in another process then: a random
// source draws for each choice that is asked for.
func (v *verifier) comparedChoices(first, second *run.Result) *divergence {
	at := choice.Difference(first.Log, second.Log)
	if at < 0 {
		return nil
	}
	asked := func(log []choice.Answer) string {
		if at >= len(log) {
			return "none"
		}
		return log[at].ID().String()
	}
	d := &divergence{second: second, asked: true}
	d.Runs, d.Command, d.Step, d.At = 1, exactCommand(v.settings.Host), second.Steps, second.Virtual
	d.Cause = "they do the same, but ask for different choices, so the seed may lead to other runs in another " +
		"process; likely a process sends a request by chance as it ends"
	d.What = fmt.Sprintf("choice %d differs:\n  first:  %s\n  second: %s", at, asked(first.Log), asked(second.Log))
	return d
}

// differingText names the text that differs.
func differingText(e *history.Event) string {
	switch e.Kind {
	case history.Done:
		return fmt.Sprintf("the text of an error of the controller %q of %s, likely built from a map range",
			e.Reconcile.Controller, e.Process)
	case history.Stop:
		return "the text of the error with which " + e.Process + " ended, likely built from a map range"
	}
	return "the text of an error" // of what a window has forgotten
}

// alwaysDiffers repeats a doubled run that differed, and reports whether all the further pairs
// differ, too. It also returns the first run that broke a property, if one did.
func (v *verifier) alwaysDiffers(d *divergence) (always bool, broken *run.Result) {
	if v.repeated[d.Cause] >= repeatedRuns {
		return v.divergenceOf(d.Cause) == nil, nil
	}
	v.repeated[d.Cause]++
	choices := d.second.Choices
	for last := d.second; d.Pairs < furtherPairs; d.Pairs++ {
		if last.Ending.Failed() { // it ended early, and whatever comes after it would differ
			last = v.runs.execute(choice.Play(choices))
			broken = firstFailing(broken, last)
		}
		if failed(last) {
			break
		}
		pair, next := v.runAgain(last)
		if pair != nil && !pair.Text && !pair.asked {
			d.Differed++
		}
		broken, last = firstFailing(broken, next), next
		v.progress.show()
		if failed(last) {
			break
		}
	}
	return d.Differed == furtherPairs, broken
}

// failed reports whether a run failed the test itself, after which no other run of it can be
// judged.
func failed(r *run.Result) bool { return r.Ending.Kind == result.TestFailed }

// divergenceOf is the warning of a cause; nil if there is none.
func (v *verifier) divergenceOf(cause string) *story.Divergence {
	all := v.report.Divergences
	if i := slices.IndexFunc(all, func(have story.Divergence) bool { return have.Cause == cause }); i >= 0 {
		return &all[i]
	}
	return nil
}

// addDivergence puts a difference on record that does not fail the campaign.
func (v *verifier) addDivergence(d *divergence) {
	merged := story.Result{Divergences: v.report.Divergences}
	merged.Diverged(d.Divergence)
	v.report.Divergences = merged.Divergences
}

// ending is that of two runs that always differ.
func (d *divergence) ending() result.Ending {
	message := fmt.Sprintf("two runs of one choice sequence differ: %s\n%s\n", d.likely, d.What)
	for _, g := range d.Goroutines {
		message += g + "\n"
	}
	advice := "Sort what is ranged over, and let one goroutine decide (wavetank vet looks for such code), "
	if d.timers {
		advice = "Let them be due at different instants, for example with a time-out of 9.9 s for a poll every 2 s, "
	}
	message += advice + "or let exact mode take chance out of it (wavetank run --exact)."
	return result.Ending{Kind: result.Nondeterminism, Step: d.Step, At: d.At, Message: message}
}

// exactCommand is what one types to make the campaign in exact mode. What chooses a spec of a
// suite, only its host knows.
func exactCommand(h host.Host) string {
	command := "wavetank run --exact " + shell.Word(h.Package())
	if p, ok := h.(interface{ Pattern() string }); ok {
		command += " --run " + shell.Quote(p.Pattern())
	}
	return command
}

// sendersOf say from where the requests were made in which two runs differ.
func sendersOf(first, second *run.Result, at int) (out []string) {
	for i, r := range []*run.Result{first, second} {
		event := requestOf(r, at)
		if where := describeCallers(r.Callers[event]); where != "" {
			out = append(out, fmt.Sprintf("  the goroutine of the %s run: %s", []string{"first", "second"}[i], where))
		}
	}
	return out
}

// libraries stand between the code under test and the wire.
var libraries = []string{"k8s.io/client-go/", "k8s.io/apimachinery/", "sigs.k8s.io/controller-runtime/",
	"github.com/wavetank/wavetank/sim/internal/", "github.com/wavetank/wavetank/sim.(*World).", "net/http.", "runtime."}

// describeCallers names the function of the code under test that made a request, and where its
// goroutine began.
func describeCallers(callers []uintptr) string {
	if len(callers) == 0 {
		return ""
	}
	var first, last runtime.Frame
	frames := runtime.CallersFrames(callers)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		library := slices.ContainsFunc(libraries, func(l string) bool { return strings.HasPrefix(f.Function, l) })
		if !library && first.Function == "" {
			first = f
		}
		if !strings.HasPrefix(f.Function, "runtime.") {
			last = f
		}
	}
	if first.Function == "" {
		first = last
	}
	where := fmt.Sprintf("%s (%s:%d)", first.Function, filepath.Base(first.File), first.Line)
	if first.Function != last.Function {
		where += ", on a goroutine that began in " + last.Function
	}
	return where
}

// restore takes up what an earlier process has found.
func (v *verifier) restore(old *story.Result) {
	v.report.Doubled, v.report.Divergences = old.Doubled, old.Divergences
}
