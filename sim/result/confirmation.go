package result

import (
	"fmt"
	"strings"
	"time"
)

// Verdict is what runs at a real API server say about a story.
type Verdict string

// The verdicts.
const (
	// Confirmed means that the real run violates the same property for the same objects, and that
	// the same workload without faults does not violate it.
	Confirmed Verdict = "confirmed"
	// NotConfirmed means that no real run did.
	NotConfirmed Verdict = "not confirmed"
	// CannotBeConfirmed means that a real server cannot be made to do a step of the story.
	CannotBeConfirmed Verdict = "cannot be confirmed"
)

// Confirmation is the result of holding a real API server to a story.
type Confirmation struct {
	File    string // of the story
	Verdict Verdict
	Server  string // version of the API server; "" if none was asked
	// Confirmed and Attempts count the real runs with the story's faults.
	Confirmed, Attempts int
	Steps               int // of the story
	// Paced reports whether a real run had to take as long as the story does.
	Paced bool
	Why   string
	// Models are the built-in controllers that changed something at the real server. They were
	// Wavetank's models, as clients of the server.
	Models []string
	Extra  []string // actions that the story does not have, in the last run
	Took   time.Duration
}

// Text is the confirmation for people.
func (c Confirmation) Text() string {
	s := fmt.Sprintf("%s: %s", c.Verdict, c.File)
	if c.Attempts > 0 {
		s += fmt.Sprintf("\n    kube-apiserver %s, %d of %d attempts, %d steps, %v", c.Server, c.Confirmed, c.Attempts,
			c.Steps, c.Took.Round(100*time.Millisecond))
	}
	if c.Paced {
		s += ", at the pace of the story"
	} else if c.Confirmed > 0 {
		s += ", without the waits of the story"
	}
	if c.Why != "" {
		s += "\n    " + strings.ReplaceAll(c.Why, "\n", "\n    ")
	}
	if len(c.Models) > 0 {
		s += "\n    models as clients of the server: " + strings.Join(c.Models, ", ")
	}
	if len(c.Extra) > 0 {
		s += "\n    not in the story, and let through: " + strings.Join(c.Extra, "; ")
	}
	return s
}
