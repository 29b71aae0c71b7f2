package property

import (
	"testing"
	"time"

	"github.com/wavetank/wavetank/history"
)

// An attempt that a late watch event may have started is allowed, and any other one is not.
func TestAttemptsAfterLateEvents(t *testing.T) {
	ref := history.Ref{Group: "example.com", Kind: "Mail", Name: "a"}
	for name, c := range map[string]struct {
		delivered history.Time
		allowed   bool
	}{
		"in time": {history.Time(2 * time.Millisecond), false},
		"late":    {history.Time(3 * time.Second), true},
	} {
		t.Run(name, func(t *testing.T) {
			h := &history.History{}
			h.Add(history.Event{Kind: history.Request, Process: "user", Revision: 1,
				Changes: []history.Change{{Ref: ref, Revision: 1}}})
			h.Add(history.Event{Kind: history.Deliver, Process: "op", Incarnation: 1, Verb: "MODIFIED", Ref: ref,
				Revision: 1, At: c.delivered})
			attempt := history.Event{Kind: history.Request, Process: "op", Incarnation: 1, Verb: "post",
				At: c.delivered}
			h.Add(attempt)
			attempt.At += history.Time(time.Second)
			h.Add(attempt)
			err := AttemptsBounded(Attempts{
				Of: func(e *history.Event) string {
					if e.Verb == "post" {
						return "mail"
					}
					return ""
				},
				Period: func([]Attempt) time.Duration { return time.Minute },
				Lag:    time.Minute,
				Ended:  func() history.Time { return 0 },
			})(h)
			if (err == nil) != c.allowed {
				t.Error(err)
			}
		})
	}
}
