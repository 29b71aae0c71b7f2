//go:build conformance

package conformance

// The table on both arms, with a live control plane. It has a build tag because the control plane
// must be compiled first; make conformance does both. It never skips: without binaries it fails and
// says what to do.

import (
	"context"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/mod/semver"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

var real *Real

func TestConformance(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Conformance")
}

func TestMain(m *testing.M) {
	flag.Parse()
	log.SetLogger(logr.Discard()) // or controller-runtime prints a long complaint that it is not set
	var err error
	if real, err = StartReal(); err != nil {
		_, _ = os.Stderr.WriteString("conformance: " + err.Error() + "\n")
		os.Exit(1)
	}
	code := m.Run()
	if err := real.Stop(); err != nil {
		_, _ = os.Stderr.WriteString("conformance: stopping the control plane: " + err.Error() + "\n")
		code = max(code, 1)
	}
	os.Exit(code)
}

// fresh is what the real server says today, and results how the model compares with that. differing
// are the rows that differ with an older minor version.
var (
	fresh     = Recordings{}
	results   []Result
	differing []string
)

// older reports whether the model is built with an older minor version than the recordings are of.
// The real server is then one of that version, and nothing is recorded.
var older = ModelMinor() != semver.MajorMinor(RealVersion)

var _ = Describe("The API", Ordered, ContinueOnFailure, func() {
	var recorded Recordings

	BeforeAll(func() {
		var err error
		recorded, err = ReadRecordings(recordings, Areas(Rows()))
		Expect(err).NotTo(HaveOccurred())
	})

	DescribeTable("answers alike on both arms", func(ctx context.Context, r Row) {
		ns := namespaceOf(r.Area + r.Name)
		observed, started, err := Observe(ctx, r, real, ns)
		Expect(err).NotTo(HaveOccurred())
		want := plain(Normalise(observed, ns, started, r.Managed))
		if older {
			compareOlder(ctx, r, want)
			return
		}
		if fresh[r.Area] == nil {
			fresh[r.Area] = map[string][]Observed{}
		}
		fresh[r.Area][r.Name] = want
		if *update {
			return
		}
		got, err := askModel(ctx, r)
		Expect(err).NotTo(HaveOccurred())
		v := Judge(r, want, got)
		results = append(results, v)
		if c := v.Complaint(); c != "" {
			Fail(c)
		}
		if old := cmp.Diff(recorded[r.Area][r.Name], want); old != "" {
			Fail("the real server (+) no longer answers as recorded (-); run `make conformance-record` and look at " +
				"the change:\n" + old)
		}
	}, entries())
})

// compareOlder compares a row with a server of an older minor version. A row that differs must be
// on that version's list, and one on the list must differ.
func compareOlder(ctx context.Context, r Row, want []Observed) {
	got, err := askModel(ctx, r)
	Expect(err).NotTo(HaveOccurred())
	v := Judge(r, want, got)
	results = append(results, v)
	name, complaint := r.Area+": "+r.Name, v.Complaint()
	if complaint != "" {
		differing = append(differing, name)
	}
	known, err := Differing(minors, ModelMinor())
	Expect(err).NotTo(HaveOccurred())
	switch listed := slices.Contains(known, name); {
	case *update:
	case complaint != "" && !listed:
		Fail(complaint)
	case complaint == "" && listed:
		Fail("the row does not differ any more; take it off " + minors + "/" + ModelMinor() + ".txt")
	}
}

func entries() []TableEntry {
	var entries []TableEntry
	for _, r := range Rows() {
		entries = append(entries, Entry(r.Area+": "+r.Name, r))
	}
	return entries
}

var _ = AfterSuite(func() {
	if *update && older {
		Expect(WriteDiffering(minors, ModelMinor(), differing)).To(Succeed())
	} else if *update {
		Expect(fresh.Write(recordings, Rows())).To(Succeed())
		return
	}
	head, _, _ := strings.Cut(Summary(results), "\n===")
	GinkgoWriter.Println(head)
	_, _ = os.Stdout.WriteString("\n" + head + "\n")
})
