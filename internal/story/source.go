package story

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// This file is about the calls in a program's source that write to the API server, and which of
// them no run has sent.

// SourceCall is a call in the program's source that writes to the API server.
type SourceCall struct {
	Controller string `json:"controller"` // type of the reconciler that may reach it
	Function   string `json:"function"`   // that it is in
	Declared   string `json:"declared"`   // where the function is, as dir/file.go:line
	Verb       string `json:"verb"`       // name of the client's method
	Source     string `json:"source"`     // where the call begins
	End        int    `json:"end"`        // its last line
}

// Has reports whether a line, as dir/file.go:line, is one of the call's.
func (s SourceCall) Has(line string) bool {
	file, number := cutLine(line)
	in, first := cutLine(s.Source)
	return file == in && number >= first && number <= s.End
}

func cutLine(s string) (file string, line int) {
	file, number, _ := strings.Cut(s, ":")
	line, _ = strconv.Atoi(number)
	return file, line
}

// Unreached is a function with writes that no run has sent.
type Unreached struct {
	Controller string   `json:"controller"`
	Function   string   `json:"function"`
	Declared   string   `json:"declared"`
	Calls      int      `json:"calls"` // writes in it
	Never      []string `json:"never"` // those that no run has sent, as dir/file.go:line
}

// Entered reports whether a run has sent one of the function's writes.
func (u Unreached) Entered() bool { return len(u.Never) < u.Calls }

// Unreached are the functions with writes that no run has sent. Of each controller, those of which
// no write was sent come first, the one with the most writes at the top.
func (r *Result) Unreached() (out []Unreached) {
	for _, c := range r.Calls {
		u := at(&out, func(u Unreached) bool { return u.Declared == c.Declared },
			Unreached{Controller: c.Controller, Function: c.Function, Declared: c.Declared})
		u.Calls++
		if !slices.ContainsFunc(r.Sites, func(t SiteTotal) bool { return c.Has(t.Source) }) {
			u.Never = append(u.Never, c.Source)
		}
	}
	out = slices.DeleteFunc(out, func(u Unreached) bool { return len(u.Never) == 0 })
	slices.SortStableFunc(out, func(a, b Unreached) int {
		order := cmp.Or(strings.Compare(a.Controller, b.Controller), cmp.Compare(len(b.Never), len(a.Never)))
		if a.Controller == b.Controller && a.Entered() != b.Entered() {
			if order = -1; a.Entered() {
				order = 1
			}
		}
		return order
	})
	return out
}

// Sentence says which writes no run has sent.
func (u Unreached) Sentence() string {
	lines := make([]string, len(u.Never))
	for i, source := range u.Never {
		_, line := cutLine(source)
		lines[i] = strconv.Itoa(line)
	}
	which := "line " + lines[0]
	if len(lines) > 1 {
		which = "lines " + strings.Join(lines, ", ")
	}
	switch {
	case u.Calls == 1:
		return fmt.Sprintf("%s %s never sent its write (%s)", u.Declared, u.Function, which)
	case !u.Entered():
		return fmt.Sprintf("%s %s sent none of its %d writes (%s)", u.Declared, u.Function, u.Calls, which)
	}
	return fmt.Sprintf("%s %s never sent %d of its %d writes (%s)", u.Declared, u.Function, len(lines), u.Calls, which)
}

// AddCalls adds the calls that others have found.
func AddCalls(to, more []SourceCall) []SourceCall {
	for _, c := range more {
		*at(&to, func(t SourceCall) bool { return t.Source == c.Source && t.Verb == c.Verb }, c) = c
	}
	return to
}
