package conformance

// FIDELITY.md says how faithful the API model is. It is made from the table, so it cannot claim
// more than the table compares.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// FidelityPage is the page's text. differing are the rows that differ with older minor versions.
func FidelityPage(rows []Row, differing map[string][]string) string {
	var out strings.Builder
	out.WriteString(`# How faithful the API model is

This page is made from the conformance table by ` + "`make conformance-record`" + `; a test fails when it is stale.
Each row of the table is one case that the same client code sends to the model and to a real kube-apiserver
(` + RealVersion + `). Replies are equal in status code, headers (Content-Type, Warning, Retry-After, Allow), reason,
message, causes, details, objects and watch frames.

Before the comparison, only the following is made equal:

- UIDs, generated names, allocated addresses and ports,
- revisions (to ranks) and times (to distances from the row's start),
- the order of what the real server takes from a map,
- the difference of internal Go structs that it puts behind one sentence about pods,
- bookmarks that only report the progress of a stream,
- managedFields outside the areas apply, ownership and managed fields.

In those areas the model tracks ownership from the start (` + "`Options.TrackFields`" + `). Otherwise it does so
from the first apply to an object, and computes then who owned which field before. A test compares both: they show
the same. So clients see no managedFields in a world without an apply.

## The same

`)
	agreement(&out, rows, differing)
	out.WriteString(`
In addition, ` + "`make conformance OPS=20000`" + ` draws random sequences of operations. Two clients send them for
` + strings.Join(DrawnKinds, ", ") + `.
Every reply, the final objects and every watch stream are compared in the same way. Two more tests each add a fourth
of that, with ownership. In one, three managers apply to the same kinds. In the other, the types themselves are
drawn: three of growing richness, the last in two versions. Left out there are scaling to the present size, empty
maps in metadata, and which one of several undeclared fields the error of an apply names. On the real server that is
chance.

The OpenAPI v3 documents of built-in types are compared, too. Types, formats, references, list types and their keys,
patch strategies and kinds are those of the real server. Enumerations, unions and the schemas of lists are not
published. Some thirty fields are declared required that may be left out. OpenAPI v2 is refused.
`)
	section(&out, "Different, and why",
		"A test asserts that each of these rows still differs. If one agrees, the test fails until its reason is "+
			"removed.",
		rows, func(r Row) bool { return r.Differs != "" && !r.Refused })
	section(&out, "Refused",
		"The model answers these with a status error that names what it does not model. It never guesses.",
		rows, func(r Row) bool { return r.Refused })
	return out.String()
}

// agreement is a table of how many rows of each area are the same, and of those that differ with an
// older minor version only.
func agreement(out *strings.Builder, rows []Row, differing map[string][]string) {
	compared := slices.SortedFunc(maps.Keys(differing), func(a, b string) int { return semver.Compare(b, a) })
	same, other := map[string]int{}, map[string]int{}
	total, excused := 0, 0
	for _, r := range rows {
		if r.Differs == "" {
			same[r.Area]++
			total++
		} else {
			other[r.Area]++
			excused++
		}
	}
	less := map[string]map[string]int{} // minor version → area → rows that differ there and not in the newest
	newest := semver.MajorMinor(RealVersion)
	head, line := "| area | rows | accepted differences | "+newest+" |", "|---|---:|---:|---:|"
	for _, minor := range compared {
		less[minor] = map[string]int{}
		for _, name := range differing[minor] {
			area, _, _ := strings.Cut(name, ": ")
			less[minor][area]++
		}
		head, line = head+" "+minor+" |", line+"---:|"
	}
	out.WriteString(head + "\n" + line + "\n")
	for _, a := range Areas(rows) {
		fmt.Fprintf(out, "| %s | %d | %d | %d |", a, same[a]+other[a], other[a], same[a])
		for _, minor := range compared {
			fmt.Fprintf(out, " %d |", same[a]-less[minor][a])
		}
		out.WriteString("\n")
	}
	fmt.Fprintf(out, "| **all** | **%d** | **%d** | **%d** |", total+excused, excused, total)
	for _, minor := range compared {
		fmt.Fprintf(out, " **%d** |", total-len(differing[minor]))
	}
	out.WriteString("\n\nThe last columns are rows that are the same as those of a real server of that minor " +
		"version, where the\nmodel is built with the k8s.io modules of that version.\n")
	for _, minor := range compared {
		fmt.Fprintf(out, "\n### Different with %s only\n\n", minor)
		for _, name := range differing[minor] {
			fmt.Fprintf(out, "- *%s*\n", name)
		}
		if len(differing[minor]) == 0 {
			out.WriteString("Nothing.\n")
		}
	}
}

func section(out *strings.Builder, title, lead string, rows []Row, belongs func(Row) bool) {
	reasons, order := map[string][]string{}, []string(nil)
	for _, r := range rows {
		if !belongs(r) {
			continue
		}
		if reasons[r.Differs] == nil {
			order = append(order, r.Differs)
		}
		reasons[r.Differs] = append(reasons[r.Differs], r.Area+": "+r.Name)
	}
	fmt.Fprintf(out, "\n## %s\n\n", title)
	if len(order) == 0 {
		out.WriteString("Nothing.\n")
		return
	}
	out.WriteString(lead + "\n\n")
	for _, reason := range order {
		fmt.Fprintf(out, "- %s\n", reason)
		for _, name := range reasons[reason] {
			fmt.Fprintf(out, "  - *%s*\n", name)
		}
	}
}
