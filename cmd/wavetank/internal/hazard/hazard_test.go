package hazard_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/packages"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/hazard"
)

func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), hazard.Analyzer, "a", "network", "program")
}

// What a process leaves behind in package variables is found, and nothing else.
func TestWrittenVariables(t *testing.T) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: "testdata/src/outlive",
		Env: append(os.Environ(), "GO111MODULE=off", "GOPATH="+analysistest.TestData())}, "outlive")
	if err != nil || packages.PrintErrors(loaded) > 0 {
		t.Fatal(err)
	}
	var got []string
	for _, o := range hazard.WrittenVariables(loaded) {
		if o.At.Line == 0 {
			t.Errorf("%s has no line", o.Variable)
		}
		got = append(got, strings.TrimPrefix(o.Variable, "outlive.")+" in "+o.In+" from "+o.From)
	}
	const reconcile, setup = " in (*Reconciler).Reconcile from (*Reconciler).Reconcile", " in Setup from Setup"
	want := []string{"attempts" + reconcile, "byPtr" + reconcile, "emptied" + reconcile,
		"inWorker in (*worker).Start from Setup", "once" + setup, "seen" + reconcile, "settings" + setup,
		"shared" + reconcile, "total" + reconcile}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
