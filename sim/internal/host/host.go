// Package host is what a test framework offers to campaigns.
package host

import (
	"fmt"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/sim/internal/shell"
)

// Host is what a campaign needs of the framework that its test is written in. The option On of a
// campaign takes one.
type Host interface {
	// Name is the test's full name. The campaign is called after it: it decides the base seed and
	// where stories go.
	Name() string
	// Package is the import path of the test's package.
	Package() string
	// Replay is the command that replays a story of the test, as one types it into a shell. file is
	// "" where the test plays the story by itself.
	Replay(file string) string
	// Cleanup runs f when the test is over.
	Cleanup(f func())
	Logf(format string, args ...any)
	// Fatalf fails the test and does not return.
	Fatalf(format string, args ...any)
}

// Testing is package testing as a host.
type Testing struct{ *testing.T }

// Logf implements [Host]. The line that go test shows before it is the test's: a campaign's own
// lines say nothing to who reads it.
func (t Testing) Logf(format string, args ...any) {
	text := caller() + fmt.Sprintf(format, args...)
	fmt.Fprintln(t.Output(), strings.ReplaceAll(text, "\n", "\n    "))
}

// Fatalf implements [Host], with the test's line as [Testing.Logf] has it.
func (t Testing) Fatalf(format string, args ...any) {
	t.Logf(format, args...)
	t.FailNow()
}

// caller is the innermost line on the stack that is not Wavetank's, as "file.go:12: "; "" if the
// goroutine is Wavetank's own.
func caller() string {
	const sim = "github.com/wavetank/wavetank/sim"
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		ours := strings.HasPrefix(f.Function, sim+".") || strings.HasPrefix(f.Function, sim+"/")
		switch {
		case !more || strings.HasPrefix(f.Function, "testing."):
			return ""
		case !ours && !strings.HasPrefix(f.Function, "reflect."), strings.HasSuffix(f.File, "_test.go"):
			return fmt.Sprintf("%s:%d: ", filepath.Base(f.File), f.Line)
		}
	}
}

// Replay implements [Host].
func (t Testing) Replay(file string) string { return ReplayCommand(t.Name(), t.Package(), file) }

// Pattern is the argument of -run that chooses the test's function.
func (t Testing) Pattern() string {
	function, _, _ := strings.Cut(t.Name(), "/")
	return "^" + regexp.QuoteMeta(function) + "$"
}

// Package implements [Host]. It is what the test binary was built from: the test itself may have
// been started by a helper of another package.
func (t Testing) Package() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "."
	}
	return packageOf(info.Path)
}

// packageOf is the package of a test binary that was built from path. The path of a package main
// has no ending.
func packageOf(path string) string {
	if path == "" || strings.HasPrefix(path, "command-line-arguments") {
		return "."
	}
	return strings.TrimSuffix(path, ".test")
}

// ReplayCommand is the go test command that replays a story file of a test. It names the exact
// package, because -sim flags fail in packages that do not import sim.
func ReplayCommand(test, pkg, file string) string {
	var parts []string
	for _, p := range strings.Split(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(p)+"$")
	}
	command := fmt.Sprintf("%s -run %s", shell.GoTest(pkg), shell.Quote(strings.Join(parts, "/")))
	if file != "" {
		command += " -sim.replay=" + shell.Word(filepath.ToSlash(file))
	}
	return command
}
