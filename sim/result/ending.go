package result

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// Kind is the type of the property or other failure that an [Ending] is about.
type Kind uint8

// The kinds of endings. The first group are kinds of properties. The others are about no property.
const (
	None       Kind = iota // nothing failed
	Always                 // a property that must hold after every step
	Eventually             // a property that must hold whenever the world has settled
	Sometimes              // a property that must hold in one run at least: a campaign fails of it, no run
	Settles                // the world did not settle, or took too many steps

	Expectation    // an assertion library's assertion failed inside the run
	Panic          // the scenario, a property or a program panicked
	Leak           // goroutines were left behind
	Nondeterminism // two runs of one choice sequence differ
	TestFailed     // the test itself was failed, so no other run of it can be judged
	Misuse         // the scenario asks for something that cannot be
	Hang           // the run made no progress: the process ends with it
)

var kinds = [...]string{None: "", Always: "always", Eventually: "eventually", Sometimes: "sometimes",
	Settles: "settles", Expectation: "expectation", Panic: "panic",
	Leak: "leak", Nondeterminism: "nondeterminism", TestFailed: "failed",
	Misuse: "misuse", Hang: "hang"}

// String is the kind as messages and story files have it; "" for [None].
func (k Kind) String() string { return kinds[k] }

// KindOf is the kind of that name, as a story file has it; [None] for any other text.
func KindOf(name string) Kind { return Kind(max(0, slices.Index(kinds[:], name))) }

// Ending is how a run ended. The zero value is a run in which nothing failed.
type Ending struct {
	Kind Kind
	// Property is the sentence of the property that was violated; "" where the kind is about no
	// property.
	Property string
	// Site is where the property was declared, or where the scenario panicked, as file:line.
	Site string
	// Message describes what was observed, and About are the objects that the property says it is
	// about: see [history.About].
	Message string
	About   []history.Ref
	// Stack is that of the goroutine that panicked in the scenario or in a property; "" for others.
	Stack string
	// Step and At are when it was noticed.
	Step int
	At   history.Time
}

// Failed reports whether something failed.
func (e Ending) Failed() bool { return e.Kind != None }

// Sentence is the ending in one line, for the record of the run.
func (e Ending) Sentence() string {
	if e.Property == "" {
		return e.Kind.String() + ": " + e.Message
	}
	return fmt.Sprintf("%s %q broke: %s", e.Kind, e.Property, e.Message)
}

// Same reports whether two endings are the same failure. The property and where it is declared
// count, not the details.
func (e Ending) Same(o Ending) bool {
	return e.Kind == o.Kind && e.Property == o.Property && e.Site == o.Site &&
		(e.Property != "" || e.Kind == Expectation || firstLine(e.Message) == firstLine(o.Message))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}
