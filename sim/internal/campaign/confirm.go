package campaign

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

const (
	// maxRealTime is how long a run at a real API server may have to wait.
	maxRealTime = 10 * time.Minute
	// maxPaced is how long a run may take that is made at the pace of the story from the start.
	maxPaced = 20 * time.Second
	// patience is how long a step may be late in a real run.
	patience = 5 * time.Second
	// maxBehind is how late a real run may be before its text says so.
	maxBehind = 100 * time.Millisecond
	// maxLast is how many events are printed of the end of a real run that has parted.
	maxLast = 20
	// maxPending is how many pending actions are shown.
	maxPending = 8
)

// confirmer holds a real API server to stories.
type confirmer struct {
	settings Settings
	runs     *executor
	report   *result.Report
}

// confirm holds a real API server to a story. It adds the verdict to the report.
func (c *confirmer) confirm(path string, s *story.Story) {
	c.runs.doing.Store(&activity{what: "the story " + path + ", at a real API server"})
	began := time.Now()
	v := c.confirmation(s)
	v.File, v.Took = path, time.Since(began)
	if c.settings.Mark && v.Verdict == result.Confirmed {
		marked := *s
		marked.Confirmed = "kube-apiserver " + v.Server + ", " + began.Format(time.DateOnly)
		if err := atomicfile.Write(path, marked.Encode()); err != nil {
			c.settings.Host.Fatalf("sim: the story could not be marked as confirmed: %v", err)
		}
	}
	c.report.Confirmations = append(c.report.Confirmations, v)
	c.settings.reportReplayed(string(v.Verdict))
	c.settings.Host.Logf("%s", v.Text())
}

func (c *confirmer) confirmation(s *story.Story) (v result.Confirmation) {
	v.Verdict, v.Child = result.CannotBeConfirmed, c.settings.Child
	choices := s.Choices
	if v.Why = unshowable(s); v.Why != "" {
		return v
	}
	script := &run.Script{}
	simulated := c.scripted(choices, script)
	v.Steps = len(script.Steps)
	switch {
	case simulated.Ending.Kind == result.Misuse:
		v.Why = simulated.Ending.Message
		return v
	case simulated.Ending.Failed() && !stillFails(s, simulated.Ending):
		v.Why = "the story does not fit the program: its replay in the simulated cluster fails otherwise: " +
			simulated.Ending.Sentence()
		return v
	}
	c.show("step", script)
	v.Paced = realTime(script)+quietTime(script, simulated.Ending) <= maxPaced
	for {
		for v.Attempts < max(c.settings.Attempts, 1) {
			v.Attempts++
			if !c.attempt(&v, choices, script, simulated) {
				return v
			}
		}
		if v.Confirmed == 0 {
			return v
		}
		verdict, why, hurried := c.control(choices, simulated.Ending, v.Paced)
		if hurried && realTime(script) <= maxRealTime {
			v.Paced, v.Attempts, v.Confirmed = true, 0, 0
			continue
		}
		if v.Verdict = verdict; verdict != result.Confirmed {
			v.Why = why
		} else if why != "" {
			v.Why += "\n" + why
		}
		return v
	}
}

// attempt makes a real run, and a second one at the pace of the story if that may differ. It
// reports whether another attempt is worth making.
func (c *confirmer) attempt(
	v *result.Confirmation, choices choice.Sequence, script *run.Script, simulated *run.Result,
) bool {
	long := realTime(script)
	quiet := quietTime(script, simulated.Ending)
	res := c.atServer(choices, script, simulated, v.Paced, quiet)
	why, same := compared(simulated, res)
	cannot := cannotBe(res)
	tooLong := long > maxRealTime
	if !same && simulated.Ending.Failed() && cannot == "" && !v.Paced && !tooLong {
		v.Paced = true // the program may measure time
		res = c.atServer(choices, script, simulated, v.Paced, quiet)
		why, same = compared(simulated, res)
		cannot = cannotBe(res)
		tooLong = res.Course.Parted == nil && !res.Ending.Failed() && long+quiet > maxRealTime
	}
	v.Server, v.Extra = res.Course.Version+otherMinor(res.Course.Version), res.Course.Extra
	v.Models = models(script, res.History)
	v.Verdict, v.Why = result.NotConfirmed, why
	switch {
	case cannot != "":
		v.Why = cannot
	case same:
		v.Confirmed++
		return true
	case tooLong && simulated.Ending.Failed():
		v.Why += fmt.Sprintf("\nand at its own pace the story takes %v: the limit is %v", long+quiet, maxRealTime)
	default:
		return true
	}
	v.Verdict = result.CannotBeConfirmed
	return false
}

// models are the built-in controllers of the script that have changed something in a real run.
func models(script *run.Script, h *history.History) (out []string) {
	for _, step := range script.Steps {
		if step.Builtin != "" && !slices.Contains(out, step.Builtin) && slices.ContainsFunc(h.Events,
			func(e history.Event) bool { return e.Process == step.Builtin && e.Write() }) {
			out = append(out, step.Builtin)
		}
	}
	return out
}

// cannotBe says what a real run could not be made to do; "" if there is nothing.
func cannotBe(res *run.Result) string {
	if res.Course.Cannot == "" && res.Ending.Kind == result.Misuse {
		return res.Ending.Message
	}
	return res.Course.Cannot
}

// quietTime is how long after its last step a story violates its property. Only an Always can be
// violated because time passes.
func quietTime(script *run.Script, e result.Ending) time.Duration {
	if e.Kind != result.Always {
		return 0
	}
	return e.At - realTime(script)
}

// otherMinor says that a server is of another minor version than the modules that the program was
// built with; "" if it is not.
func otherMinor(server string) string {
	minor, _, _ := strings.Cut(strings.TrimPrefix(recordedWith()["k8s.io/client-go"], "v0."), ".")
	if server == "" || minor == "" || strings.HasPrefix(server, "v1."+minor+".") {
		return ""
	}
	return fmt.Sprintf(" (the Kubernetes modules of the program are of v1.%s)", minor)
}

// scripted makes a run in a simulated cluster and writes its order into a script.
func (c *confirmer) scripted(choices choice.Sequence, script *run.Script) *run.Result {
	settings := c.runs.settings
	settings.Record = script
	return c.runs.executeWith(choice.Play(choices), settings)
}

// show prints the steps of a script if that is wanted.
func (c *confirmer) show(what string, script *run.Script) {
	for i := 0; c.settings.Verbose && i < len(script.Steps); i++ {
		c.settings.Host.Logf("%s %d at %v: %s", what, i+1, script.Steps[i].At, script.Steps[i].What)
	}
}

// atServer makes a run at the real API server.
func (c *confirmer) atServer(
	choices choice.Sequence, script *run.Script, simulated *run.Result, paced bool, quiet time.Duration,
) *run.Result {
	settings := c.runs.settings
	if paced {
		quiet = min(quiet, maxRealTime-realTime(script))
	}
	settings.Real = &run.Real{Kubeconfig: c.settings.Confirm, Script: script, History: simulated.History,
		Patience: patience, Paced: paced, Quiet: quiet}
	if c.settings.Child {
		settings.Real.Choices = choices
		settings.Real.Child = func() *exec.Cmd { return c.runs.child(c.settings.Host.Name()) }
	}
	res := c.runs.executeWith(choice.Play(choices), settings)
	if c.settings.Verbose && !res.Ending.Failed() {
		events := res.History.Events
		for i := range events[max(0, len(events)-maxLast):] {
			c.settings.Host.Logf("the real run: %s", &events[max(0, len(events)-maxLast)+i])
		}
	}
	return res
}

// control makes the run of the story without its faults and on the default schedule, in a simulated
// cluster and at the real server. It must come to its end and must not violate anything. If the
// story violates an Always, the run may end a minute after the time of the violation. A story that
// needs no fault has no such run. The verdict is that on the story, and why is the reason. If a run
// that does not wait fails, hurried is true: then the story's run must be made at its pace, too.
func (c *confirmer) control(
	choices choice.Sequence, violation result.Ending, slowly bool,
) (verdict result.Verdict, why string, hurried bool) {
	plain := slices.DeleteFunc(slices.Clone(choices), func(e story.Choice) bool {
		return e.Kind == story.Arm || e.Kind == story.Inject || e.Kind.Schedules()
	})
	script := &run.Script{}
	simulated := c.scripted(plain, script)
	if simulated.Ending.Failed() {
		if simulated.Ending.Same(violation) {
			return result.Confirmed, "it needs no fault: the workload violates it on the default schedule, too", false
		}
		return result.NotConfirmed, "the same workload without faults fails otherwise: " + simulated.Ending.Sentence(),
			false
	}
	if violation.Kind == result.Always {
		script.Cut(violation.At + time.Minute)
	}
	c.show("without faults: step", script)
	for _, paced := range []bool{false, true} {
		if paced && realTime(script) > maxRealTime {
			break
		}
		res := c.atServer(plain, script, simulated, paced, 0)
		switch {
		case cannotBe(res) != "":
			verdict = result.CannotBeConfirmed
			why = "the same workload without faults cannot be run: " + cannotBe(res)
		case res.Ending.Failed() && !paced && slowly:
			verdict, why = result.CannotBeConfirmed, "without waiting, the same workload without faults fails, too: "+
				res.Ending.Sentence()
		case res.Ending.Failed() && !paced:
			return result.CannotBeConfirmed, "without waiting, the same workload without faults fails, too, so a " +
				"property may measure time: " + res.Ending.Sentence(), true
		case res.Ending.Failed():
			return result.NotConfirmed, "the same workload without faults fails at the real server, too: " +
				res.Ending.Sentence(), false
		case res.Course.Parted != nil:
			verdict = result.NotConfirmed
			why = "the same workload without faults did not come to its end: " + partedAt(res.Course, len(script.Steps))
		default:
			return result.Confirmed, "", false
		}
	}
	return verdict, why, false
}

// compared describes how a real run ended, and reports whether it violates the same property as the
// simulated run, for the same objects.
func compared(simulated, res *run.Result) (why string, same bool) {
	e := res.Ending
	switch {
	case !e.Failed() && res.Course.Parted != nil:
		return partedAt(res.Course, simulated.Steps), false
	case !e.Failed():
		return "all steps were made, and the real run violates nothing", false
	case !simulated.Ending.Failed():
		return "the real run fails, and the simulated one does not: " + e.Sentence(), false
	case !e.Same(simulated.Ending):
		return "the real run fails otherwise: " + e.Sentence(), false
	}
	message := res.Course.InScript(e.Message)
	if shape(message) != shape(simulated.Ending.Message) &&
		!slices.Equal(objectsOf(res.History, message, res.Course),
			objectsOf(simulated.History, simulated.Ending.Message, &run.Course{})) {
		return "the real run violates the property for other objects: " + e.Sentence(), false
	}
	return e.Sentence(), true
}

// numbers differ between runs: times and resource versions.
var numbers = regexp.MustCompile(`[0-9]+(:[0-9]+)*(\.[0-9]+)?`)

// shape is a message without what differs between runs.
func shape(message string) string { return numbers.ReplaceAllString(message, "#") }

// objectsOf are the objects that a message names, by the names that the script has.
func objectsOf(h *history.History, message string, c *run.Course) (out []string) {
	for _, e := range h.Events {
		for _, ch := range e.Changes {
			name := c.InScript(ch.Ref.String())
			if strings.Contains(message, c.InScript(ch.Ref.Name)) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return out
}

// partedAt says at which step a real run left the script, on both sides.
func partedAt(course *run.Course, steps int) string {
	p := course.Parted
	pending := "nothing"
	if n := len(p.Pending); n > 0 {
		pending = strings.Join(p.Pending[:min(n, maxPending)], "\n        ")
	}
	const form = "the real run parts from the story at step %d of %d\n    story: %s\n    real:  pending is %s"
	text := fmt.Sprintf(form, p.N, steps, p.Step.What, pending)
	if p.Behind > maxBehind {
		text += fmt.Sprintf("\n    the step before it came %v later than in the story: a program that measures time "+
			"may do something else; try it on a machine that is less busy", p.Behind.Round(time.Millisecond))
	}
	return text
}

// impossible are the faults that no real server can be made to have here, and why.
var impossible = map[string]string{
	"StaleServer": "it needs a second API server that lags",
}

// unshowable says why no real server can be held to a story; "" if it can be tried.
func unshowable(s *story.Story) string {
	switch result.KindOf(s.Kind) {
	case result.Always, result.Eventually, result.Panic, result.Expectation:
	default:
		return fmt.Sprintf("%q is judged by virtual time or by the simulator itself", s.Headline())
	}
	for _, ch := range s.Choices {
		class, _, _ := strings.Cut(ch.Of, "(")
		if why := impossible[class]; why != "" && ch.Kind == story.Inject {
			return fmt.Sprintf("step %q: %s", ch.Line(), why)
		}
	}
	return ""
}

// realTime is how long a run at the pace of a script takes.
func realTime(s *run.Script) (d time.Duration) {
	if n := len(s.Steps); n > 0 {
		d = s.Steps[n-1].At
	}
	return d
}
