package wire

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
)

// This file finds the line of the code under test that sent a request or panicked. It is on the
// stack of the goroutine that calls the port, or that recovers.

// deepest is how many calls of a stack are looked at. Some twenty are those of client libraries.
const deepest = 64

// stack are the program counters of a goroutine, innermost first.
type stack [deepest]uintptr

// maxSenders bounds the memory: code that recurses may send from any number of stacks.
const maxSenders = 10000

var senders = struct {
	sync.Mutex
	of map[stack]sender
}{of: map[stack]sender{}}

// sender is what the stack of a goroutine tells about it.
type sender struct {
	line       string // see [Source]
	reconciles bool   // it runs a reconcile
	runs       bool   // it runs a runnable that the program added to its manager
	reflects   bool   // it fills a cache
}

// Source is the innermost line of the code under test on the calling goroutine, as dir/file.go:line
// in its module; "" if there is none. It is the line that sends a request or, in a deferred
// function, the line that panicked.
func Source() string { return callingGoroutine().line }

// HandlerSource is [Source] on a goroutine that reports an error to an error handler. It is "" on
// one that fills a cache, and on one that runs an observed reconcile, whose end is recorded.
func HandlerSource() string {
	if from := callingGoroutine(); !from.reflects && !from.reconciles {
		return from.line
	}
	return ""
}

// callingGoroutine reads the stack of the calling goroutine. Programs send from few places, so each
// stack is read once.
func callingGoroutine() sender {
	var s stack
	n := runtime.Callers(2, s[:])
	senders.Lock()
	defer senders.Unlock()
	known, ok := senders.of[s]
	if !ok {
		if len(senders.of) >= maxSenders {
			clear(senders.of)
		}
		known = senderOf(s[:n])
		senders.of[s] = known
	}
	return known
}

// senderOf reads a stack. One that is deeper than what is looked at may be that of a reconcile.
func senderOf(callers []uintptr) sender {
	const process = "github.com/wavetank/wavetank/sim/internal/process."
	out := sender{line: sourceIn(callers), reconciles: len(callers) == deepest}
	frames := runtime.CallersFrames(callers)
	for more := len(callers) > 0; more; {
		var at runtime.Frame
		at, more = frames.Next()
		switch {
		case at.Function == process+"(*controllers).reconcile":
			out.reconciles = true
		case at.Function == process+"panicCatcher.Start":
			out.runs = true
		case strings.HasPrefix(at.Function, "k8s.io/client-go/tools/cache.(*Reflector)."):
			out.reflects = true
		}
	}
	return out
}

// sourceIn reads a stack. The code under test is what is of no other module. Tests, and what wraps
// its connection, come last. Where the program was imported, its module is the outermost one that
// is not of Kubernetes.
func sourceIn(callers []uintptr) string {
	var around string
	var imported []Frame
	frames := runtime.CallersFrames(callers)
	for more := len(callers) > 0; more; {
		var at runtime.Frame
		at, more = frames.Next()
		f := Frame{at.Function, filepath.ToSlash(at.File)}
		switch {
		case f.Standard() || f.Harness():
		case f.Dependency():
			if !f.kubernetes() {
				imported = append(imported, f)
				imported[len(imported)-1].File = fmt.Sprintf("%s:%d", f.File, at.Line)
			}
		case strings.HasSuffix(f.File, "_test.go"), strings.HasSuffix(f.Function, ".RoundTrip"):
			if around == "" {
				around = f.relative(at.Line)
			}
		default:
			return f.relative(at.Line)
		}
	}
	for _, f := range imported {
		if f.module() == imported[len(imported)-1].module() {
			return f.inModule()
		}
	}
	return around
}

// Place is a line of the code under test. Dir is its package's directory in its module.
type Place struct {
	Dir, File string
	Line      int
}

// String is dir/file.go:line.
func (p Place) String() string {
	return fmt.Sprintf("%s:%d", path.Join(p.Dir, path.Base(filepath.ToSlash(p.File))), p.Line)
}

// SourcePlace is the innermost line of the code under test on the calling goroutine. Tests do not
// count.
func SourcePlace() (Place, bool) {
	var s stack
	frames := runtime.CallersFrames(s[:runtime.Callers(2, s[:])])
	for more := true; more; {
		var at runtime.Frame
		at, more = frames.Next()
		f := Frame{at.Function, filepath.ToSlash(at.File)}
		if !f.Standard() && !f.Harness() && !f.Dependency() && !strings.HasSuffix(f.File, "_test.go") {
			return Place{path.Dir(f.relative(at.Line)), at.File, at.Line}, true
		}
	}
	return Place{}, false
}

// Frame is one call of a stack.
type Frame struct{ Function, File string }

// Standard reports whether the frame is of the standard library. Its packages have no dot in the
// first element of their path. Neither have those of some modules, so the file decides where paths
// are whole.
func (f Frame) Standard() bool {
	if root := rootOfStandard(); root != "" {
		return strings.HasPrefix(f.File, root)
	}
	first, _, _ := strings.Cut(f.File, "/")
	return !strings.Contains(first, ".")
}

// rootOfStandard is where the sources of the standard library were when the binary was built; "" if
// the binary does not say.
var rootOfStandard = sync.OnceValue(func() string {
	const file = "strings/builder.go"
	pc := reflect.ValueOf((*strings.Builder).Reset).Pointer()
	path, _ := runtime.FuncForPC(pc).FileLine(pc)
	root, _ := strings.CutSuffix(filepath.ToSlash(path), file)
	return root
})

// Harness reports whether the frame is Wavetank's. What its tests hold are programs.
func (f Frame) Harness() bool {
	const sim = "github.com/wavetank/wavetank/sim"
	ours := strings.HasPrefix(f.Function, sim+".") || strings.HasPrefix(f.Function, sim+"/internal/")
	return ours && !strings.HasSuffix(f.File, "_test.go")
}

// Dependency reports whether the frame is of a module other than the one under test.
func (f Frame) Dependency() bool {
	return strings.Contains(f.File, "@v") || strings.Contains(f.File, "/vendor/")
}

// kubernetes reports whether the frame is of the libraries between a program and its API server.
func (f Frame) kubernetes() bool {
	return strings.HasPrefix(f.Function, "k8s.io/") || strings.HasPrefix(f.Function, "sigs.k8s.io/controller-runtime/")
}

// module is the directory of an imported module.
func (f Frame) module() string {
	before, after, ok := strings.Cut(f.File, "@v")
	if !ok {
		return ""
	}
	version, _, _ := strings.Cut(after, "/")
	return before + "@v" + version
}

// inModule is the frame's file in an imported module.
func (f Frame) inModule() string {
	if m := f.module(); m != "" {
		return strings.TrimPrefix(f.File, m+"/")
	}
	_, file, _ := strings.Cut(f.File, "/vendor/")
	return file
}

// relative is a line of the frame's file as its module has it. The import path says where the file
// is, whatever machine built it.
func (f Frame) relative(line int) string {
	at := fmt.Sprintf("%s:%d", path.Base(f.File), line)
	dir, name := path.Split(f.Function)
	element, _, _ := strings.Cut(name, ".")
	pkg := dir + strings.TrimSuffix(element, "_test")
	if pkg == "main" {
		return at
	}
	in := ""
	for _, m := range modules() {
		if len(m) > len(in) && (pkg == m || strings.HasPrefix(pkg, m+"/")) {
			in = m
		}
	}
	if in == "" && len(modules()) > 0 {
		in = shared(modules()[0], pkg)
	}
	return path.Join(strings.TrimPrefix(strings.TrimPrefix(pkg, in), "/"), at)
}

// shared is the path that a and b begin with. A binary does not say which other modules of a
// workspace it was built from; what they share with the main module is that of their repository.
func shared(a, b string) string {
	to := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		if a[i] == '/' {
			to = i
		}
	}
	return a[:to]
}

// modules are the paths of the modules that the binary was built from, the main module first.
var modules = sync.OnceValue(func() (out []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	out = append(out, info.Main.Path)
	for _, d := range info.Deps {
		out = append(out, d.Path)
	}
	return out
})
