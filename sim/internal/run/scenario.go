package run

import (
	"runtime"
	"strings"
)

// Scenario calls f on the goroutine of a scenario. Its name on the stack marks that goroutine.
//
//go:noinline
func Scenario(f func()) { f() }

// OfScenario reports whether a goroutine of a dump is a scenario's.
func OfScenario(stack string) bool { return strings.Contains(stack, "/sim/internal/run.Scenario(") }

// OnScenario reports whether the caller is on the goroutine that the scenario was called on, which
// is also the scheduling goroutine: the only one that may end the run by a panic. The steps of
// built-in controllers have stacks of their own, on which the scheduling goroutine waits. It is
// asked at every use of the world, so it looks at the bottom of the stack first.
func OnScenario() bool {
	var pcs [256]uintptr
	for skip := 2; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		for i := n - 1; i >= 0; i-- {
			f := runtime.FuncForPC(pcs[i] - 1)
			if f == nil {
				continue
			}
			if strings.HasSuffix(f.Name(), "/run.Scenario") || strings.HasSuffix(f.Name(), "/wire.(*step).perform") {
				return true
			}
		}
		if n < len(pcs) {
			return false
		}
	}
}
