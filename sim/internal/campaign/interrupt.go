package campaign

import (
	"fmt"
	"os"
	"sync/atomic"
)

// interruption lets a campaign say what it has tried before a signal ends the process.
type interruption struct {
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
func (c *campaign) publish() {
	r, s := &c.report, c.settings
	now := &standing{runs: r.Runs, planned: s.planned(), broken: c.brokenRuns}
	if f := r.Failure; f != nil && f.File != "" {
		now.kept = append(now.kept, f.File)
	}
	now.result = c.interruption.file
	c.interruption.standing.Store(now)
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

// mustEnd reports whether a signal asks the campaign to end.
func (c *campaign) mustEnd() bool { return c.interruption.asked.Load() }

// endInterrupted writes the result, from run next on still to be made, and waits for the end of the
// process.
func (c *campaign) endInterrupted(next int) {
	if c.keep != nil {
		c.keep(next)
	}
	c.publish()
	if f := c.report.Failure; f != nil {
		fmt.Fprintf(os.Stderr, "--- FAIL: %s\n%s", c.t.Name(), f.Text())
	}
	close(c.interruption.written)
	select {}
}
