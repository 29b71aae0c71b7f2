// This file is the door: the bootstrap's line, and the two calls.

package simginkgo

import (
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/campaign"
	"github.com/wavetank/wavetank/sim/result"
)

// bootstrap is what Use was given: the test function that runs the suite.
var bootstrap struct {
	sync.Mutex
	t   *testing.T
	pkg string
}

// Use hands over the *testing.T of the function that calls RunSpecs. Call it there, once, before
// RunSpecs.
func Use(t *testing.T) {
	t.Helper()
	pc, _, _, _ := runtime.Caller(1)
	bootstrap.Lock()
	defer bootstrap.Unlock()
	bootstrap.t, bootstrap.pkg = t, packageOf(runtime.FuncForPC(pc).Name())
	t.Cleanup(func() {
		bootstrap.Lock()
		defer bootstrap.Unlock()
		bootstrap.t = nil
	})
}

// packageOf cuts the import path out of a function's full name.
func packageOf(function string) string {
	slash := strings.LastIndex(function, "/") + 1
	if dot := strings.Index(function[slash:], "."); dot >= 0 {
		function = function[:slash+dot]
	}
	return strings.TrimSuffix(function, "_test")
}

// Check runs a scenario many times, each run with other choices, and fails the spec at the first
// run in which a property breaks: sim.Check for specs.
func Check(scenario func(*sim.World), opts ...sim.ExploreOption) {
	ginkgo.GinkgoHelper()
	r, failed := explore(scenario, append([]sim.ExploreOption{sim.Stories("")}, opts...))
	if failed == "" {
		if err := r.Err(); err != nil {
			failed = err.Error()
		}
	}
	if failed != "" {
		ginkgo.Fail(failed)
	}
}

// Explore runs a scenario many times and reports what it found without failing the spec:
// sim.Explore for specs. Misuse of the door still fails it.
func Explore(scenario func(*sim.World), opts ...sim.ExploreOption) result.Report {
	ginkgo.GinkgoHelper()
	r, failed := explore(scenario, opts)
	if failed != "" {
		ginkgo.Fail(failed)
	}
	return r
}

// explore makes a campaign and its report entry. failed is what the host was told to fail with.
func explore(scenario func(*sim.World), opts []sim.ExploreOption) (r result.Report, failed string) {
	ginkgo.GinkgoHelper()
	bootstrap.Lock()
	t, pkg := bootstrap.t, bootstrap.pkg
	bootstrap.Unlock()
	spec := ginkgo.CurrentSpecReport()
	switch {
	case t == nil:
		return r, "sim: simginkgo does not know the *testing.T of this suite; call simginkgo.Use(t) before " +
			"RunSpecs(t, …) in the function that go test runs"
	case spec.LeafNodeType != 0 && spec.FullText() == "":
		return r, "sim: a campaign is named after its spec; call simginkgo inside It, Specify or Entry"
	}
	h := &host{bootstrap: t.Name(), pkg: pkg, spec: spec.FullText()}
	failed = h.watch(func() {
		gomega.InterceptGomegaFailures(func() { // for its putting the fail handler back
			gomega.RegisterFailHandler(expectationFailed)
			h.mute(func() { r = sim.Explore(t, scenario, append([]sim.ExploreOption{campaign.On(h)}, opts...)...) })
		})
	})
	if failed == "" {
		e, seen := entryOf(&r), ginkgo.ReportEntryVisibilityFailureOrVerbose
		if len(e.Warnings) > 0 {
			seen = ginkgo.ReportEntryVisibilityAlways
		}
		ginkgo.AddReportEntry("wavetank", e, seen)
	}
	return r, failed
}
