// This file does what Helm does not do for a chart: to know it again without rendering it
// (one that draws a password or writes down the time renders something else whenever it is asked),
// and to leave it as it was.

package release

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/mitchellh/copystructure"
	"helm.sh/helm/v3/pkg/chart"
)

// Digest tells apart what may be installed: a chart with everything in it, and values. It is fit
// for the value of a label.
func Digest(ch *chart.Chart, values map[string]any) string {
	h := sha256.New()
	add(h.Write, ch, values)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// add writes down a chart and the charts that it depends on.
func add(write func([]byte) (int, error), ch *chart.Chart, values map[string]any) {
	data, err := json.Marshal(struct {
		*chart.Chart
		Given map[string]any
	}{ch, values})
	if err != nil {
		panic(fmt.Sprintf("a chart and values that were read as YAML cannot be written as JSON: %v", err))
	}
	_, _ = write(data)
	for _, dependency := range ch.Dependencies() {
		add(write, dependency, nil)
	}
}

// own is a chart for Helm to rewrite: its actions take out dependencies that are not enabled, and
// fold the values of the others into the chart that they were given, which others may be using.
func own(ch *chart.Chart) *chart.Chart {
	out := *ch // templates and files are not written to
	out.Metadata = copystructure.Must(copystructure.Copy(ch.Metadata)).(*chart.Metadata)
	out.Values = copystructure.Must(copystructure.Copy(ch.Values)).(map[string]any)
	out.SetDependencies()
	for _, dependency := range ch.Dependencies() {
		out.AddDependency(own(dependency))
	}
	return &out
}
