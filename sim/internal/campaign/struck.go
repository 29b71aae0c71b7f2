package campaign

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/result"
)

// struckTable has a row for each class of requests and watch events, and a column for each fault:
// at how many of how many opportunities the fault was injected. It is "" if no fault had any.
func struckTable(faults []result.FaultCount) string {
	var classes []string
	for _, f := range faults {
		for _, c := range f.Classes {
			classes = append(classes, c.String())
		}
	}
	slices.Sort(classes)
	classes = slices.Compact(classes)
	if len(classes) == 0 {
		return ""
	}
	faults = slices.SortedFunc(slices.Values(faults), func(a, b result.FaultCount) int {
		return cmp.Compare(a.Fault, b.Fault)
	})
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, f := range faults {
		fmt.Fprintf(w, "\t%s", f.Fault)
	}
	fmt.Fprintln(w)
	for _, class := range classes {
		fmt.Fprint(w, cmp.Or(class, "other"))
		for _, f := range faults {
			i := slices.IndexFunc(f.Classes, func(c story.ClassTotal) bool { return c.String() == class })
			if i < 0 {
				fmt.Fprint(w, "\t–")
				continue
			}
			fmt.Fprintf(w, "\t%d of %d", f.Classes[i].Injected, f.Classes[i].Opportunities)
		}
		fmt.Fprintln(w)
	}
	w.Flush() // into b, which takes everything
	return b.String()
}
