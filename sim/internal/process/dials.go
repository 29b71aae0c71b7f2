package process

import (
	"fmt"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file detects connections that stock Go cannot refuse: to an address, with a context that
// belongs to no incarnation. GODEBUG multipathtcp=1 makes package net count the TCP connections
// that it begins ([Enter]), and the profile of allocations says who began them.

// Dials is how many TCP connections were begun in the process by package net, during runs.
func Dials() uint64 {
	sample := []metrics.Sample{{Name: "/godebug/non-default-behavior/multipathtcp:events"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindUint64 {
		return 0 // a version of Go that counts otherwise
	}
	return sample[0].Value.Uint64()
}

// RecordDials lets the Go runtime record who dials, which makes it slow. The function that it
// returns ends the recording and returns the operator's line, or "" if nothing has dialled since.
func RecordDials() (at func() (site string, byHTTP bool)) {
	dials, before, rate := Dials(), map[[32]uintptr]int64{}, runtime.MemProfileRate
	for _, r := range allocations() {
		before[r.Stack0] += r.AllocObjects
	}
	runtime.MemProfileRate = 1
	return func() (string, bool) {
		runtime.MemProfileRate = rate
		if Dials() == dials {
			return "", false
		}
		var ours, others []string
		byHTTP := map[string]bool{}
		for _, r := range allocations() {
			if r.AllocObjects == before[r.Stack0] {
				continue
			}
			site, inRun, http := dialSite(r.Stack())
			byHTTP[site] = byHTTP[site] || http
			switch {
			case site == "":
			case inRun:
				ours = append(ours, site)
			default:
				others = append(others, site)
			}
		}
		if len(ours) == 0 {
			ours = others
		}
		if len(ours) == 0 {
			return "an unknown line", true
		}
		site := slices.Min(ours) // the profile has no order
		return site, byHTTP[site]
	}
}

// allocations is the profile of allocations up to now.
func allocations() []runtime.MemProfileRecord {
	runtime.GC() // what was allocated shows when two collections have ended
	runtime.GC()
	for size := 1000; ; size *= 2 {
		records := make([]runtime.MemProfileRecord, size)
		if n, ok := runtime.MemProfile(records, true); ok {
			return records[:n]
		}
	}
}

// dialSite is the operator's line in a stack that dials, or that waits for a library's goroutine
// which does; "" in any other stack. inRun reports whether the stack is known to belong to a run:
// that of a goroutine which the operator started is not. byHTTP says that net/http's transport
// dials.
func dialSite(stack []uintptr) (site string, inRun, byHTTP bool) {
	dials, library := false, ""
	frames := runtime.CallersFrames(stack)
	for {
		f, more := frames.Next()
		byHTTP = byHTTP || strings.HasPrefix(f.Function, httpTransport)
		dials = dials || strings.HasPrefix(f.Function, "net.(*Dialer).") ||
			strings.HasPrefix(f.Function, "net.(*sysDialer).") || f.Function == "net/http.(*Transport).getConn"
		at := frame{wire.Frame{Function: f.Function, File: f.File}, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)}
		switch {
		case at.Harness():
			inRun = true
		case at.Standard():
		case !at.Dependency() && site == "":
			site = at.site
		case library == "":
			library = at.site
		}
		if !more {
			break
		}
	}
	switch {
	case !dials:
		return "", false, false
	case site == "":
		return library, inRun, byHTTP
	}
	return site, inRun, byHTTP
}
