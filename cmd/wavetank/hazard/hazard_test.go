package hazard_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/wavetank/wavetank/cmd/wavetank/hazard"
)

func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), hazard.Analyzer, "a", "network", "program")
}
