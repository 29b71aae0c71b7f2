package history

import "slices"

// About returns an error with the same text that says which objects it is about. A property returns
// it if its sentence does not name them, or names more than them. A failure message shows the
// creation, the deletion and the last write of each. It returns nil if err is nil.
func About(err error, objects ...Ref) error {
	if err == nil {
		return nil
	}
	return &aboutObjects{err, objects}
}

type aboutObjects struct {
	error
	objects []Ref
}

// Unwrap returns the error without the objects.
func (a *aboutObjects) Unwrap() error { return a.error }

// Subjects returns the objects that an error, or one that it wraps, is about, each once.
func Subjects(err error) (out []Ref) {
	var more []error
	switch e := err.(type) {
	case nil:
		return nil
	case *aboutObjects:
		out, more = slices.Clone(e.objects), []error{e.error}
	case interface{ Unwrap() error }:
		more = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		more = e.Unwrap()
	}
	for _, wrapped := range more {
		for _, ref := range Subjects(wrapped) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}
