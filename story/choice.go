package story

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind says what a choice decided. The words are those of the choices section of a story file.
type Kind string

// The kinds of choices.
const (
	Next     Kind = "next"     // which action was next
	Request  Kind = "request"  // how long a request took
	Reply    Kind = "reply"    // how long a reply took
	Step     Kind = "step"     // how long a step of a built-in controller took
	Arm      Kind = "arm"      // how often a declared fault was injected in the run
	Inject   Kind = "inject"   // that a fault was injected, and how
	Option   Kind = "option"   // an option of a process
	Endpoint Kind = "endpoint" // which process answered for a host
	Builtin  Kind = "builtin"  // a decision of a built-in controller
	Draw     Kind = "draw"     // a random word of a value that the scenario drew
	Names    Kind = "names"    // the seed of generated names and UIDs
	Seed     Kind = "seed"     // the seed of math/rand
)

// kinds are the kinds, with what begins the label of a choice.
var kinds = map[Kind]string{
	Next: "next", Request: "request ", Reply: "reply ", Step: "step ", Arm: "fault ", Inject: "", Option: "knob ",
	Endpoint: "endpoint of ", Builtin: "", Draw: "draw ", Names: "names", Seed: "dice",
}

// Choice is one choice that is not the default.
type Choice struct {
	Kind Kind
	// Of is whose choice it is: the class of a fault that is armed, a fault that is injected with
	// its arguments, a built-in controller, or the name of a draw. It is empty for other kinds.
	Of    string
	What  string // the rest: scope, place, object, or the number of a draw's word, from 0
	Nth   int    // how many choices of the run before it had the same Kind, Of and What
	Value int
}

// ID is the label and the occurrence, counted from 1, as messages show them. An example is
// "request pipelines patch Pipeline default/site #4".
func (c Choice) ID() string { return c.Label() + " #" + strconv.Itoa(c.Nth+1) }

// Label says what was decided, for people.
func (c Choice) Label() string {
	between := ""
	switch {
	case c.Kind == Draw:
		between = "/"
	case c.Kind == Inject || c.Kind == Builtin, c.What != "" && (c.Kind == Names || c.Kind == Seed):
		between = " "
	}
	what := c.What
	if c.Kind == Names && what != "" {
		what = "in " + what
	}
	return kinds[c.Kind] + c.Of + between + what
}

// line is the choice in a story file: "value kind what #n". What begins with the class of the fault
// if a fault is armed. A fault that is injected, a built-in controller or the name of a draw
// precedes it with a colon, and in quotes if it contains a colon itself.
func (c Choice) line() string {
	s := fmt.Sprintf("%d %s", c.Value, c.Kind)
	switch {
	case c.Kind == Arm:
		s += " " + c.Of + c.What
	case c.Of != "":
		of := c.Of
		if strings.Contains(of, ": ") || strings.HasPrefix(of, `"`) {
			of = strconv.Quote(of)
		}
		s += " " + of + ": " + c.What
	case c.What != "":
		s += " " + c.What
	}
	return fmt.Sprintf("%s #%d", s, c.Nth+1)
}

// parseChoice reads a line of the choices section.
func parseChoice(l string) (c Choice, err error) {
	value, rest, _ := strings.Cut(l, " ")
	if c.Value, err = strconv.Atoi(value); err != nil || c.Value <= 0 {
		return c, fmt.Errorf("%q does not begin with a positive value", l)
	}
	at := strings.LastIndex(rest, " #")
	if at < 0 {
		return c, fmt.Errorf("%q does not end with an occurrence (\" #n\")", l)
	}
	n, err := strconv.Atoi(rest[at+2:])
	if err != nil || n <= 0 {
		return c, fmt.Errorf("%q does not end with an occurrence (\" #n\")", l)
	}
	c.Nth = n - 1
	kind, what, _ := strings.Cut(rest[:at], " ")
	c.Kind, c.What = Kind(kind), what
	if _, known := kinds[c.Kind]; !known {
		return c, fmt.Errorf("%q names an unknown kind of choice, %q", l, kind)
	}
	switch c.Kind {
	case Arm:
		end := strings.IndexFunc(what, func(r rune) bool { return r == '(' || r == ' ' })
		if end < 0 {
			end = len(what)
		}
		c.Of, c.What = what[:end], what[end:]
	case Inject, Builtin, Draw:
		return c.owner(l)
	}
	return c, nil
}

// owner takes the fault, the controller or the draw from the beginning of What.
func (c Choice) owner(l string) (Choice, error) {
	of, what, ok := strings.Cut(c.What, ": ")
	if quoted, err := strconv.QuotedPrefix(c.What); err == nil {
		of, _ = strconv.Unquote(quoted)
		what, ok = strings.CutPrefix(c.What[len(quoted):], ": ")
	}
	if !ok {
		return c, fmt.Errorf("%q does not say, before a colon, of which fault, controller or draw it is", l)
	}
	c.Of, c.What = of, what
	return c, nil
}
