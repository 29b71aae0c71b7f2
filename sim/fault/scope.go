package fault

import (
	"strings"

	"github.com/wavetank/wavetank/history"
)

// Scope narrows a fault to a part of the world.
type Scope func(*scope)

type scope struct {
	process, kind, verb, name string
	atOnce, hard              bool
}

// In narrows a fault to one process.
func In(process string) Scope { return func(s *scope) { s.process = process } }

// OfKind narrows a fault to one Kubernetes kind, for example "Pipeline".
func OfKind(kind string) Scope { return func(s *scope) { s.kind = kind } }

// OnVerb narrows a fault to requests with one Kubernetes verb (for example "patch") or, outside the
// cluster, one HTTP method.
func OnVerb(verb string) Scope { return func(s *scope) { s.verb = verb } }

// Named narrows a fault to one object, written "namespace/name" or "name".
func Named(name string) Scope { return func(s *scope) { s.name = name } }

// AtOnce lets a process that [Crash] kills for the first time start again at once, as the kubelet
// does with a container that has not failed before. After that it waits for 10 s, 20 s and so on.
func AtOnce() Scope { return func(s *scope) { s.atOnce = true } }

// HardLimit makes the duration of a [StaleCache] a limit that no lag exceeds. Use it if a property
// is true only while the cache lags by no more than that.
func HardLimit() Scope { return func(s *scope) { s.hard = true } }

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

// given are the names of the functions that made the scope.
func (s *scope) given() (names []string) {
	for _, part := range []struct {
		name  string
		given bool
	}{
		{"In", s.process != ""}, {"OfKind", s.kind != ""}, {"OnVerb", s.verb != ""}, {"Named", s.name != ""},
		{"AtOnce", s.atOnce}, {"HardLimit", s.hard},
	} {
		if part.given {
			names = append(names, part.name)
		}
	}
	return names
}

// covers reports whether an object that a process deals with is in the scope. An empty verb is in
// every scope.
func (s *scope) covers(process, kind, verb string, ref history.Ref) bool {
	name := strings.TrimPrefix(ref.Namespace+"/"+ref.Name, "/")
	return (s.process == "" || s.process == process) && (s.kind == "" || s.kind == kind) &&
		(s.verb == "" || verb == "" || s.verb == verb) && (s.name == "" || s.name == name)
}
