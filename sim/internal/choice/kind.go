package choice

// Kind says what a choice is about. Whoever asks for a choice states it.
type Kind string

// The kinds of choices.
const (
	Next     Kind = "next"     // which of the actions that are due is next
	Request  Kind = "request"  // how long a request takes
	Reply    Kind = "reply"    // how long a reply takes
	Step     Kind = "step"     // how long a step of a built-in controller takes
	Handler  Kind = "handler"  // how long an event handler pauses after it has added a key
	Arm      Kind = "arm"      // whether a declared fault may be injected in this run, and how often
	Inject   Kind = "inject"   // whether a fault is injected here, and how
	Option   Kind = "option"   // an option of a process that the scenario leaves open
	Endpoint Kind = "endpoint" // which process answers for a host
	Builtin  Kind = "builtin"  // a decision of a built-in controller
	Draw     Kind = "draw"     // a random word of a value that the scenario draws
	Names    Kind = "names"    // the seed of generated names and UIDs
	Seed     Kind = "seed"     // the seed of math/rand
)

// Schedules reports whether the choice is about time and order.
func (k Kind) Schedules() bool {
	return k == Next || k == Request || k == Reply || k == Step || k == Handler
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

// group is what choices have in common that strategies and shrinking treat alike: the kind, and for
// disturbances whose they are.
type group struct {
	kind Kind
	of   string
}

func (l Label) group() group {
	if l.Kind.Disturbs() {
		return group{l.Kind, l.Of}
	}
	return group{kind: l.Kind}
}
