package history

import (
	"errors"
	"slices"
)

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

func (a *aboutObjects) subjects() []Ref { return a.objects }

// Subjects returns the objects that an error, or one that it wraps, is about, each once.
func Subjects(err error) (out []Ref) {
	if err == nil {
		return nil
	}
	// errors.As stops at the first of several errors that are about objects.
	if about, ok := err.(interface{ subjects() []Ref }); ok {
		out = slices.Clone(about.subjects())
	}
	wrapped := []error{errors.Unwrap(err)}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		wrapped = joined.Unwrap()
	}
	for _, inner := range wrapped {
		for _, ref := range Subjects(inner) {
			if !slices.Contains(out, ref) {
				out = append(out, ref)
			}
		}
	}
	return out
}
