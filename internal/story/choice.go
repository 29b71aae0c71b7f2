package story

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind says what a choice is about. The words are those of the choices section of a story file.
type Kind string

// The kinds of choices.
const (
	Next     Kind = "next"     // which of the actions that are due is next
	Request  Kind = "request"  // how long a request takes
	Reply    Kind = "reply"    // how long a reply takes
	Step     Kind = "step"     // how long a step of a built-in controller takes
	Handler  Kind = "handler"  // how long an event handler pauses after it has added a key
	Upgrade  Kind = "upgrade"  // how long after w.Upgrade the process is asked to stop
	Arm      Kind = "arm"      // whether a declared fault may be injected in this run, and how often
	Inject   Kind = "inject"   // whether a fault is injected here, and how
	Option   Kind = "option"   // an option of a process that the scenario leaves open
	Endpoint Kind = "endpoint" // which process answers for a host
	Builtin  Kind = "builtin"  // a decision of a built-in controller
	Draw     Kind = "draw"     // a random word of a value that the scenario draws
	Names    Kind = "names"    // the seed of generated names and UIDs
	Seed     Kind = "seed"     // the seed of math/rand
)

// kinds are the kinds, with what begins the label of a choice.
var kinds = map[Kind]string{
	Next: "next", Request: "request ", Reply: "reply ", Step: "step ", Handler: "handler ",
	Upgrade: "upgrade of ", Arm: "fault ", Inject: "", Option: "option ", Endpoint: "endpoint of ",
	Builtin: "", Draw: "draw ", Names: "names", Seed: "seed",
}

// Schedules reports whether the choice is about time and order.
func (k Kind) Schedules() bool {
	return k == Next || k == Request || k == Reply || k == Step || k == Handler || k == Upgrade
}

// Draws reports whether the choice is of a value that is as good as any other.
func (k Kind) Draws() bool { return k == Draw || k == Names || k == Seed }

// Disturbs reports whether another answer than the default makes the run less ordinary: a fault, an
// option, another endpoint or another decision of a built-in controller.
func (k Kind) Disturbs() bool {
	return k == Inject || k == Option || k == Endpoint || k == Builtin
}

// Label says what is decided.
type Label struct {
	Kind Kind
	// Of is whose choice it is: the class of a fault that is armed, a fault that is injected with
	// its arguments, a built-in controller, or the name of a draw. It is empty for other kinds.
	Of string
	// Who and Verb are about a request: the process that sends it, and its verb. Before the process
	// a fault may say when, for example "before". A watch event has its type for a verb, and a
	// handler that adds a key "add".
	Who, Verb string
	// What is the object of the request, or else the rest: a scope, a place, or the number of a
	// draw's word, from 0.
	What string
}

// ID names a choice within its run by label and occurrence, counted from 0. It survives unrelated
// changes of the code under test better than a position would.
type ID struct {
	Label
	Nth int
}

// Choice is one choice that is not the default.
type Choice struct {
	ID
	Value int
}

// String is the label and the occurrence, counted from 1, as messages show them. An example is
// "request pipelines patch Pipeline default/site #4".
func (i ID) String() string { return i.Label.String() + " #" + strconv.Itoa(i.Nth+1) }

// String describes what is decided, for people.
func (l Label) String() string {
	between := ""
	switch {
	case l.Kind == Draw:
		between = "/"
	case l.Kind == Inject || l.Kind == Builtin, l.What != "" && (l.Kind == Names || l.Kind == Seed):
		between = " "
	}
	what := l.What
	if l.Who != "" {
		what = l.Who + " " + l.Verb + " " + what
	}
	if l.Kind == Names && what != "" {
		what = "in " + what
	}
	return kinds[l.Kind] + l.Of + between + what
}

// Line is the choice in a story file, for example
//
//	1 inject Crash(op): before op: update ConfigMap default/a #2
//
// It begins with the value and the kind, and ends with the occurrence, from 1. Of and Who are
// followed by colons. Who comes with a verb, and What is the rest. If a fault is armed, its class
// has no colon.
func (c Choice) Line() string {
	s := fmt.Sprintf("%d %s", c.Value, c.Kind)
	switch {
	case c.Kind == Arm:
		return fmt.Sprintf("%s %s%s #%d", s, c.Of, c.What, c.Nth+1)
	case c.Kind.owned():
		s += " " + head(c.Of)
	}
	switch {
	case c.Who != "":
		s += " " + head(c.Who) + " " + c.Verb
	case c.Kind.sent() && strings.Contains(c.What, ": "):
		s += " " + head("")
	}
	if c.What != "" {
		s += " " + c.What
	}
	return fmt.Sprintf("%s #%d", s, c.Nth+1)
}

// owned reports whether choices of the kind have an owner in Of.
func (k Kind) owned() bool { return k == Inject || k == Builtin || k == Draw }

// sent reports whether choices of the kind may be about a request, or about a key that a handler
// adds.
func (k Kind) sent() bool { return k == Request || k == Reply || k == Inject || k == Handler }

// head is a part of a line that ends with a colon. It is in quotes if it has a colon in it.
func head(s string) string {
	if s == "" || strings.Contains(s, ": ") || strings.HasPrefix(s, `"`) {
		s = strconv.Quote(s)
	}
	return s + ":"
}

// cutHead takes a head from the beginning of a line. It reports false if there is none.
func cutHead(l string) (s, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(l)
	if err != nil {
		return strings.Cut(l, ": ")
	}
	s, _ = strconv.Unquote(quoted)
	rest, ok = strings.CutPrefix(l[len(quoted):], ": ")
	return s, rest, ok
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
	if c.Kind == Arm {
		end := strings.IndexFunc(what, func(r rune) bool { return r == '(' || r == ' ' })
		if end < 0 {
			end = len(what)
		}
		c.Of, c.What = what[:end], what[end:]
	}
	if c.Kind.owned() {
		var ok bool
		if c.Of, c.What, ok = cutHead(c.What); !ok {
			return c, fmt.Errorf("%q does not say, before a colon, of which fault, controller or draw it is", l)
		}
	}
	if who, rest, ok := cutHead(c.What); ok && c.Kind.sent() {
		if c.Who, c.What = who, rest; who != "" {
			c.Verb, c.What, _ = strings.Cut(rest, " ")
		}
	}
	return c, nil
}
