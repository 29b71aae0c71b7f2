package process

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestSincePanicBeginsWhereItPanicked(t *testing.T) {
	for name, panics := range map[string]func(){
		"panic": func() { panic("here") },
		"index": func() { _ = []int{}[len(name(t))] },
		"nil":   func() { *(*int)(nil) = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				_ = recover()
				stack := SincePanic(string(debug.Stack()))
				first, _, _ := strings.Cut(stack, "\n")
				if !strings.Contains(first, "TestSincePanicBeginsWhereItPanicked.func") {
					t.Errorf("the stack begins with %q", first)
				}
			}()
			panics()
		})
	}
}

func name(t *testing.T) string { return t.Name() }
