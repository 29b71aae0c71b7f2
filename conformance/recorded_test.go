package conformance

// The model compared with the real server's recorded replies. This needs no control plane, so every
// go test does it.

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const recordings = "testdata/recorded"

var (
	update   = flag.Bool("update", false, "rewrite FIDELITY.md (and, with the build tag, the recordings)")
	diffFile = flag.String("conformance.diff", "", "a file for the list of disagreements")
)

// askModel runs a row against a model of its own.
func askModel(ctx context.Context, r Row) ([]Observed, error) {
	m, err := startModel(r.Managed)
	if err != nil {
		return nil, err
	}
	ns := namespaceOf(r.Area + r.Name)
	got, started, err := Observe(ctx, r, m, ns)
	return plain(Normalise(got, ns, started, r.Managed)), err
}

func TestModelAgainstRecordings(t *testing.T) {
	rows := Rows()
	recorded, err := ReadRecordings(recordings, Areas(rows))
	if err != nil {
		t.Fatal(err)
	}
	var results []Result
	var sides strings.Builder
	for _, r := range rows {
		want := recorded[r.Area][r.Name]
		if want == nil {
			t.Errorf("%s: %s: nothing is recorded: run `make conformance-record`", r.Area, r.Name)
			continue
		}
		got, err := askModel(t.Context(), r)
		if err != nil {
			t.Errorf("%s: %s: %v", r.Area, r.Name, err)
			continue
		}
		v := Judge(r, want, got)
		results = append(results, v)
		if c := v.Complaint(); c != "" {
			t.Errorf("%s: %s: %s", r.Area, r.Name, c)
			sides.WriteString("=== " + r.Area + ": " + r.Name + "\n" + Sides(want, got))
		}
	}
	summary := Summary(results)
	t.Log("\n" + summary)
	if *diffFile != "" {
		head, _, _ := strings.Cut(summary, "\n===")
		if err := os.WriteFile(filepath.Clean(*diffFile), []byte(head+"\n"+sides.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNamesAreUnique guards the recordings, which are kept by area and name.
func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rows() {
		key := r.Area + ": " + r.Name
		if seen[key] {
			t.Errorf("two rows are called %q", key)
		}
		seen[key] = true
	}
}

// fidelityPage lies with the model, where its users look.
const fidelityPage = "../models/apiserver/FIDELITY.md"

func TestFidelityPage(t *testing.T) {
	differing := map[string][]string{}
	compared, err := Compared(minors)
	if err != nil {
		t.Fatal(err)
	}
	for _, minor := range compared {
		if differing[minor], err = Differing(minors, minor); err != nil {
			t.Fatal(err)
		}
	}
	want := FidelityPage(Rows(), differing)
	if *update {
		if err := os.WriteFile(fidelityPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(fidelityPage)
	if err != nil {
		t.Fatalf("%v: write it with `go test ./conformance -run TestFidelityPage -args -update`", err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("FIDELITY.md (+) is not what the table says (-): write it with "+
			"`go test ./conformance -run TestFidelityPage -args -update`\n%s", diff)
	}
}

// TestRealVersion keeps the page's version that of the binaries.
func TestRealVersion(t *testing.T) {
	mod, err := os.ReadFile("../hack/envtest/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "k8s.io/kubernetes "+RealVersion+" ") {
		t.Errorf("hack/envtest/go.mod does not build Kubernetes %s", RealVersion)
	}
}
