package fault

import (
	"strings"

	"github.com/wavetank/wavetank/history"
)

// Scope narrows a fault to a part of the world: [In], [OfKind], [OnVerb] and [Named]. Those of one
// fault must all match. The type of a fault's arguments says which of them it takes.
type Scope interface {
	narrower
	ofRequests()
}

// ProcessScope is a scope of a fault of one process: [OfKind], [OnVerb] and [Named].
type ProcessScope interface {
	narrower
	ofProcess()
	ofCrash()
}

// CrashScope is a scope of [Crash]: those of other faults of processes, and [AtOnce].
type CrashScope interface {
	narrower
	ofCrash()
}

// CacheScope is a scope of [StaleCache]: [In], [OfKind], [Named] and [HardLimit].
type CacheScope interface {
	narrower
	ofCache()
}

// QueueScope is a scope of [RacingRequeue]: [In] and [Named].
type QueueScope interface {
	narrower
	ofQueue()
}

// narrower is a scope of any fault.
type narrower interface{ narrow(s *scope) }

// In narrows a fault to one process.
type In string

func (i In) narrow(s *scope) { s.process = string(i) }
func (In) ofRequests()       {}
func (In) ofCache()          {}
func (In) ofQueue()          {}

// OfKind narrows a fault to one Kubernetes kind, for example "Pipeline".
type OfKind string

func (o OfKind) narrow(s *scope) { s.kind = string(o) }
func (OfKind) ofRequests()       {}
func (OfKind) ofProcess()        {}
func (OfKind) ofCrash()          {}
func (OfKind) ofCache()          {}

// OnVerb narrows a fault to requests with one Kubernetes verb (for example "patch") or, outside the
// cluster, one HTTP method.
type OnVerb string

func (o OnVerb) narrow(s *scope) { s.verb = string(o) }
func (OnVerb) ofRequests()       {}
func (OnVerb) ofProcess()        {}
func (OnVerb) ofCrash()          {}

// Named narrows a fault to one object, written "namespace/name" or "name".
type Named string

func (n Named) narrow(s *scope) { s.name = string(n) }
func (Named) ofRequests()       {}
func (Named) ofProcess()        {}
func (Named) ofCrash()          {}
func (Named) ofCache()          {}
func (Named) ofQueue()          {}

type atOnce struct{}

// AtOnce lets a process that [Crash] kills for the first time start again at once, as the kubelet
// does with a container that has not failed before. After that it waits for 10 s, 20 s and so on.
func AtOnce() CrashScope { return atOnce{} }

func (atOnce) narrow(s *scope) { s.atOnce = true }
func (atOnce) ofCrash()        {}

type hardLimit struct{}

// HardLimit makes the duration of a [StaleCache] a limit that no lag exceeds. Use it if a property
// is true only while the cache lags by no more than that.
func HardLimit() CacheScope { return hardLimit{} }

func (hardLimit) narrow(s *scope) { s.hard = true }
func (hardLimit) ofCache()        {}

type scope struct {
	process, kind, verb, name string
	atOnce, hard              bool
	twice                     string // a scope that was given more than once; "" for none
}

// String is what follows the name of a fault.
func (s *scope) String() (out string) {
	for _, part := range []struct{ word, value string }{
		{" in ", s.process}, {" of ", s.kind}, {" on ", s.verb}, {" named ", s.name},
	} {
		if part.value != "" {
			out += part.word + part.value
		}
	}
	if s.atOnce {
		out += " at once"
	}
	return out
}

// covers reports whether an object that a process deals with is in the scope. An empty verb is in
// every scope.
func (s *scope) covers(process, kind, verb string, ref history.Ref) bool {
	name := strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	return (s.process == "" || s.process == process) && (s.kind == "" || s.kind == kind) &&
		(s.verb == "" || verb == "" || s.verb == verb) && (s.name == "" || s.name == name)
}
