// This file is what a campaign needs of the spec that it runs in.

package simginkgo

import (
	"flag"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/wavetank/wavetank/sim/internal/shell"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// host is a spec as host.Host.
type host struct {
	bootstrap string // name of the test function
	pkg       string
	spec      string // full text

	mu    sync.Mutex
	muted bool     // Logf keeps its lines
	lines []string // that were kept
}

// Name implements host.Host. It is one line, as it is in a story's file.
func (h *host) Name() string { return strings.ReplaceAll(h.spec, "\n", " ") }

// Package implements host.Host.
func (h *host) Package() string { return h.pkg }

// Replay implements host.Host. Ginkgo matches the focus against the suite's description, a blank,
// and the spec's text.
func (h *host) Replay(file string) string {
	focus := " " + strings.ReplaceAll(regexp.QuoteMeta(h.spec), "\n", `\n`) + "$"
	command := fmt.Sprintf("%s -run %s -ginkgo.focus=%s", shell.GoTest(h.pkg),
		shell.Quote("^"+regexp.QuoteMeta(h.bootstrap)+"$"), shell.Quote(focus))
	if file != "" {
		command += " -sim.replay=" + shell.Word(filepath.ToSlash(file))
	}
	return command
}

// Cleanup implements host.Host.
func (h *host) Cleanup(f func()) { ginkgo.DeferCleanup(f) }

// Logf implements host.Host.
func (h *host) Logf(format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := fmt.Sprintf(format+"\n", args...)
	if h.muted {
		h.lines = append(h.lines, line)
		return
	}
	ginkgo.GinkgoWriter.Print(line)
}

// mute drops what is logged to GinkgoWriter while f runs, where kubebuilder's scaffold has all logs
// go: those of every run, which are many. With -v, or with -sim.log, they are shown.
func (h *host) mute(f func()) {
	w, ok := ginkgo.GinkgoWriter.(interface {
		Bytes() []byte
		Truncate()
	})
	_, reporter := ginkgo.GinkgoConfiguration()
	logs := flag.Lookup("sim.log")
	if !ok || reporter.Verbosity().GTE(types.VerbosityLevelVerbose) || logs != nil && logs.Value.String() == "true" {
		f()
		return
	}
	before := w.Bytes()
	h.setMuted(true)
	defer func() {
		w.Truncate()
		ginkgo.GinkgoWriter.Print(string(before) + strings.Join(h.setMuted(false), ""))
	}()
	f()
}

// setMuted reports whether Logf keeps its lines, and returns those that it kept so far.
func (h *host) setMuted(on bool) (lines []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.muted, lines, h.lines = on, h.lines, nil
	return lines
}

// halt is how Fatalf leaves the campaign: Ginkgo's Fail must be called by the spec's own frames to
// find its line.
type halt struct{ message string }

// Fatalf implements host.Host.
func (h *host) Fatalf(format string, args ...any) { panic(halt{fmt.Sprintf(format, args...)}) }

// Leaves reports whether a panic is how Ginkgo's Fail and Skip leave a spec, which they have marked
// by then.
func (h *host) Leaves(v any) bool {
	e, ok := v.(types.GinkgoError) //nolint:errorlint // what panicked, never wrapped
	uncaught := types.GinkgoErrors.UncaughtGinkgoPanic(types.CodeLocation{})
	return ok && e.Heading == uncaught.(types.GinkgoError).Heading //nolint:errorlint // Ginkgo's own
}

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
	if !world.Fail(fmt.Sprintf("%s:%d", filepath.Base(at.FileName), at.LineNumber), message) {
		ginkgo.Fail(message, skip) // between two runs, on a goroutine that should not have been left behind
	}
}
