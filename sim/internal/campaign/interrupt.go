package campaign

import (
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/wavetank/wavetank/internal/story"
)

// interruption lets a campaign say what it has tried before a signal ends the process.
type interruption struct {
	tally    *tally
	planned  int         // runs
	asked    atomic.Bool // a signal has come
	standing atomic.Pointer[standing]
	file     string        // the result's; "" if none is written
	written  chan struct{} // closed when the campaign has stopped and its result is on file
}

// standing is how far a campaign has come. It does not change once it is published.
type standing struct {
	runs, planned, broken int
	kept                  []string // stories
	result                string   // the file of the result; "" if none is written
}

// publish lets a signal find how far the campaign has come.
func (i *interruption) publish() {
	r := i.tally.report
	now := &standing{runs: r.Runs, planned: i.planned, broken: i.tally.broken}
	if f := r.Failure; f != nil && f.File != "" {
		now.kept = append(now.kept, f.File)
	}
	now.result = i.file
	i.standing.Store(now)
}

// sentence says what an interrupted campaign has tried, in a line.
func (s *standing) sentence(name string, by os.Signal) string {
	if s == nil {
		return fmt.Sprintf("sim: %s was ended by a signal (%v) before its first run", name, by)
	}
	made := fmt.Sprintf("%d runs", s.runs)
	if s.planned > 0 {
		made = fmt.Sprintf("%d of %d runs", s.runs, s.planned)
	}
	line := fmt.Sprintf("sim: %s was ended by a signal (%v) after %s, %d of which broke a property", name, by, made,
		s.broken)
	for _, file := range s.kept {
		line += "; the story is " + file
	}
	if s.result != "" {
		return line + fmt.Sprintf("; the result is %s, and the same command continues from there", s.result)
	}
	return line + "; no result is kept; with -sim.report=directory the next command continues where this one ended"
}

// end publishes how far the campaign has come, shows its failure, and waits for the end of the
// process. The result must be on file.
func (i *interruption) end(test string) {
	i.publish()
	if f := i.tally.report.Failure; f != nil {
		fmt.Fprintf(os.Stderr, "--- FAIL: %s\n%s", test, f.Text())
	}
	close(i.written)
	select {}
}

// interruptGrace is how long a campaign that is interrupted may take to end the run under way and
// to write its result.
const interruptGrace = 2 * time.Second

// heedSignals says what the campaign has tried when SIGINT or SIGTERM ends the process, until stop
// is called. The campaign ends its run first, if that does not take long.
func (i *interruption) heedSignals() (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(s) { // as of a job in the background
			signal.Notify(signals, s)
		}
	}
	go func() {
		select {
		case <-done:
			return
		case by := <-signals:
			i.asked.Store(true)
			select {
			case <-i.written:
			case <-done: // it had ended by itself
			case <-time.After(interruptGrace):
			}
			line := i.standing.Load().sentence(i.tally.report.Name, by)
			fmt.Fprintln(os.Stderr, story.Printable(line))
			signal.Stop(signals)
			endBy(by)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
