// This file is what a campaign needs of the spec that it runs in.

package simginkgo

import (
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/shell"
)

// host is a spec as sim.Host.
type host struct {
	bootstrap string // name of the test function
	pkg       string
	spec      string // full text
}

// Name implements sim.Host.
func (h *host) Name() string { return h.spec }

// Package implements sim.Host.
func (h *host) Package() string { return h.pkg }

// Replay implements sim.Host. Ginkgo matches the focus against the suite's description, a blank, and the spec's text.
func (h *host) Replay(file string) string {
	return fmt.Sprintf("go test %s -run %s -ginkgo.focus=%s -sim.replay=%s", h.pkg,
		shell.Quote("^"+regexp.QuoteMeta(h.bootstrap)+"$"), shell.Quote(" "+regexp.QuoteMeta(h.spec)+"$"), shell.Word(filepath.ToSlash(file)))
}

// Cleanup implements sim.Host.
func (h *host) Cleanup(f func()) { ginkgo.DeferCleanup(f) }

// Logf implements sim.Host.
func (h *host) Logf(format string, args ...any) {
	ginkgo.GinkgoWriter.Printf(format+"\n", args...)
}

// halt is how Fatalf leaves the campaign: Ginkgo's Fail must be called by the spec's own frames to find its line.
type halt struct{ message string }

// Fatalf implements sim.Host.
func (h *host) Fatalf(format string, args ...any) { panic(halt{fmt.Sprintf(format, args...)}) }

// watch calls f and returns what Fatalf was told, "" if it was not called.
func (h *host) watch(f func()) (failed string) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case halt:
			failed = v.message
		default:
			panic(v)
		}
	}()
	f()
	return ""
}

// expectationFailed is Gomega's fail handler while a campaign runs.
func expectationFailed(message string, callerSkip ...int) {
	skip := 1
	if len(callerSkip) > 0 {
		skip += callerSkip[0]
	}
	at := types.NewCodeLocation(skip)
	if !sim.Fail(fmt.Sprintf("%s:%d", filepath.Base(at.FileName), at.LineNumber), message) {
		ginkgo.Fail(message, skip) // between two runs, on a goroutine that nobody should have left behind
	}
}
