package process

import (
	"context"
	"regexp"
	"runtime"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// labelInStack is the profiler's label of an incarnation in the first line of a goroutine's stack.
var labelInStack = regexp.MustCompile(` labels:\{.*"` + incarnationLabel + `": "([^"]+)"`)

// labelledName is the name of the incarnation that the calling goroutine belongs to; "" for none.
func labelledName() string {
	var head [512]byte
	if found := labelInStack.FindSubmatch(head[:runtime.Stack(head[:], false)]); found != nil {
		return string(found[1])
	}
	return ""
}

// handleError records an error that a program gives to utilruntime.HandleError, as the workers of a
// queue of its own do when a key fails. Errors that a library reports are not recorded. The
// context has the incarnation, or else the goroutine has its label: HandleError gives no context.
func (s *Supervisor) handleError(ctx context.Context, err error, message string, _ ...any) {
	source, name := wire.HandlerSource(), labelledName()
	if c, ok := ctx.Value(incarnationKey{}).(*core); ok {
		name = c.Name()
	}
	if source == "" || name == "" {
		return
	}
	switch {
	case err != nil && message == "Unhandled Error": // that of HandleError, which is given none
		message = err.Error()
	case err != nil:
		message += ": " + err.Error()
	}
	outcome := history.Outcome{Kind: history.OutcomeFailure, Text: repeatable(message)}
	s.Sched.Note(name+" error "+outcome.Text, func() {
		for _, i := range s.incarnations {
			if i.Name() == name && !isDead(i) {
				e := i.event(history.HandledError)
				e.Outcome, e.Source = outcome, source
				s.History.Add(e)
			}
		}
	})
}
