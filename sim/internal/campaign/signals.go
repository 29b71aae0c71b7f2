package campaign

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/wavetank/wavetank/internal/story"
)

// interruptGrace is how long a campaign that is interrupted may take to end the run under way and
// to write its result.
const interruptGrace = 2 * time.Second

// heedSignals says what the campaign has tried when SIGINT or SIGTERM ends the process, until stop
// is called. The campaign ends its run first, if that does not take long.
func (c *campaign) heedSignals() (stop func()) {
	if dir := c.settings.ReportDir; dir != "" {
		c.interruption.file = filepath.Join(dir, c.result(0).FileName())
	}
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
			c.interruption.asked.Store(true)
			select {
			case <-c.interruption.written:
			case <-done: // it had ended by itself
			case <-time.After(interruptGrace):
			}
			line := c.interruption.standing.Load().sentence(c.report.Name, by)
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
