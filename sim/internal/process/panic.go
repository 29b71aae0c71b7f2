package process

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
)

// PanicError is what a program's main panicked with.
type PanicError struct {
	Value any
	Stack string
}

func (p *PanicError) Error() string { return repeatable(fmt.Sprintf("panic: %v", p.Value)) }

// stack is where a panic came from; it is called where the panic is recovered. It has no addresses,
// so that two runs have the same.
func stack() string {
	var b strings.Builder
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, "runtime.") {
			fmt.Fprintf(&b, "%s\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}

// SincePanic is a stack without the frames that recover its panic, which come first.
func SincePanic(stack string) string {
	since := stack[strings.LastIndex(stack, "\npanic(")+1:]
	for strings.HasPrefix(since, "panic(") || strings.HasPrefix(since, "runtime.") {
		_, since, _ = strings.Cut(since, "\n\t")
		_, since, _ = strings.Cut(since, "\n")
	}
	return since
}

// addresses are what Go prints of pointers. They differ from run to run.
var addresses = regexp.MustCompile(`0x[0-9a-f]{6,}`)

// repeatable is a message without addresses.
func repeatable(message string) string {
	if !strings.Contains(message, "0x") {
		return message
	}
	return addresses.ReplaceAllString(message, "0x…")
}
