package campaign

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows the progress of a long campaign on a terminal. It prints nothing in logs.
type progress struct {
	settings  Settings
	tally     *tally
	out       io.Writer // nil if it is not a terminal
	began     time.Time
	last      time.Time
	wrote     bool
	shrinking string // how far the failure at hand has shrunk; the shrinker says it
}

// watch has progress shown from now on, if standard error is a terminal.
func (p *progress) watch() {
	p.began = time.Now()
	p.last = p.began
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.out = os.Stderr
	}
}

// beforeProgress is how long a campaign must have run before it is worth a line.
const beforeProgress = time.Second

// show rewrites the line, at most five times a second.
func (p *progress) show() {
	now := time.Now()
	if p.out == nil || now.Sub(p.began) < beforeProgress || now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last, p.wrote = now, true
	fmt.Fprintf(p.out, "\r\x1b[K%s", p.line(now.Sub(p.began)))
}

// done removes the line.
func (p *progress) done() {
	if p.wrote {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

// line says what is done, how fast, and how long it may still take.
func (p *progress) line(elapsed time.Duration) string {
	r, s := p.tally.report, p.settings
	rate := float64(r.Runs) / elapsed.Seconds()
	line := fmt.Sprintf("%s: %d runs", r.Name, r.Runs)
	left := time.Duration(-1)
	if s.Runs > 0 {
		line = fmt.Sprintf("%s: %d of %d runs", r.Name, r.Runs, s.Runs)
		left = time.Duration(float64(s.Runs-r.Runs) / rate * float64(time.Second))
	}
	if s.Budget > 0 {
		allowed := s.Budget - r.Spent // on an idle machine CPU time passes as real time does
		if more := fewRuns - p.tally.searched; !s.Strict && more > 0 && rate > 0 {
			allowed = max(allowed, min(time.Duration(float64(more)/rate*float64(time.Second)), longestBudget-r.Spent))
		}
		if left < 0 || allowed < left {
			left = max(0, allowed)
		}
	}
	injected := 0
	for _, f := range r.Faults {
		injected += f.Injected
	}
	line += fmt.Sprintf(", %.0f/s", rate)
	if left >= 0 {
		line += fmt.Sprintf(", %v left", left.Round(time.Second))
	}
	line += fmt.Sprintf(", %d faults injected", injected)
	if r.Failure != nil {
		line += ", shrinking a failure"
		if s := p.shrinking; s != "" {
			line += ": " + s
		}
	} else {
		line += ", no failure"
	}
	return line
}
