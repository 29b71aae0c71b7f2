// Package suite makes specs of the table of a reference scenario: an entry for each variant and
// case. A suite is then one as kubebuilder scaffolds it, with one DescribeTable:
//
//	var _ = DescribeTable("A RepoSync", suite.Check(Table()), suite.Entries(Table()))
package suite

import (
	"fmt"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/wavetank/wavetank/scenarios/internal/matrix"
	"github.com/wavetank/wavetank/sim/simginkgo"
)

// Entries are the cells of a table that are run. Each has its variant as a label.
func Entries[V ~string](table matrix.Table[V]) (out []ginkgo.TableEntry) {
	verbs := map[string]string{matrix.Passes: "passes", matrix.Fails: "fails"}
	for _, c := range table.Cases {
		for _, v := range table.Variants {
			if verb := verbs[c.Outcome(v)]; verb != "" {
				text := fmt.Sprintf("%s: %s %s %q", c.Name, v, verb, c.Property)
				out = append(out, ginkgo.Entry(text, c.Name, v, ginkgo.Label(string(v))))
			}
		}
	}
	return out
}

// Check checks an entry: the stored failure is repeated on its variant, and the fixed one passes
// with the same choices. A variant that passes does so a few times, or -matrix.runs times.
func Check[V ~string](table matrix.Table[V]) func(name string, v V) {
	check := matrix.Check(table, simginkgo.Explore)
	return func(name string, v V) {
		ginkgo.GinkgoHelper()
		if matrix.Writing() {
			ginkgo.Skip("TestMatrix makes the runs that the results lack")
		}
		if err := check(ginkgo.GinkgoTB(), name, v); err != nil {
			ginkgo.Fail(err.Error())
		}
	}
}

// Config is Ginkgo's configuration without its limit of an hour, because make reprove may take
// longer.
func Config() types.SuiteConfig {
	c, _ := ginkgo.GinkgoConfiguration()
	c.Timeout = 0
	return c
}
