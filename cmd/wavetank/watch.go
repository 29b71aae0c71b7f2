package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/wavetank/wavetank/internal/story"
)

// watchEvery is how often the results of running processes are read.
const watchEvery = 500 * time.Millisecond

// watch shows the progress of the processes of a campaign, which it reads from their results. On a
// terminal it is a bar, in a log a line a minute.
type watch struct {
	out      io.Writer
	name     string
	dir      string
	bar      *progressbar.ProgressBar // nil in a log
	began    time.Time
	before   int // runs that earlier processes had made
	lastLine time.Time
}

func newWatch(out io.Writer, name, dir string) *watch {
	w := &watch{out: out, name: name, dir: dir, began: time.Now(), lastLine: time.Now()}
	w.before, _, _, _ = w.state()
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		w.bar = progressbar.NewOptions(-1, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString("runs"),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(watchEvery/2))
	}
	return w
}

// state adds up what the processes have written so far.
func (w *watch) state() (runs, planned, finds int, coverage string) {
	paths, _ := filepath.Glob(filepath.Join(w.dir, "*.json"))
	tests := map[string]int{}
	injected, faults := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		r, err := story.ReadResult(path)
		if err != nil || !isResult(path) {
			continue
		}
		runs += r.Runs
		tests[r.Test] = r.Planned
		for _, f := range r.Findings {
			finds += f.Count
		}
		for _, f := range r.Faults {
			faults[r.Test+f.Fault] = true
			if f.Injected > 0 {
				injected[r.Test+f.Fault] = true
			}
		}
	}
	for _, n := range tests {
		planned += n
	}
	return runs, planned, finds, fmt.Sprintf("%d of %d faults injected", len(injected), len(faults))
}

func (w *watch) show() {
	runs, planned, finds, coverage := w.state()
	if w.bar != nil {
		if planned >= runs && planned > 0 {
			w.bar.ChangeMax(planned)
		}
		w.bar.Describe(fmt.Sprintf("%s: %d found, %s", w.name, finds, coverage))
		_ = w.bar.Set(runs)
		return
	}
	if time.Since(w.lastLine) < time.Minute {
		return
	}
	w.lastLine = time.Now()
	if runs < w.before {
		w.before = 0 // of other code, so they are repeated
	}
	rate := float64(runs-w.before) / time.Since(w.began).Seconds()
	of := ""
	if planned > 0 {
		of = fmt.Sprintf(" of %d", planned)
	}
	fmt.Fprintf(w.out, "%s: %d%s runs, %.0f a second, %d found, %s\n", w.name, runs, of, rate, finds, coverage)
}

func (w *watch) done() {
	if w.bar != nil {
		_ = w.bar.Finish()
	}
}
