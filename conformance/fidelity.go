package conformance

// FIDELITY.md: what the model of the API server may be trusted with. It is written from the table, so that it cannot say
// more than the table asks.

import (
	"fmt"
	"strings"
)

// FidelityPage is the page's text.
func FidelityPage(rows []Row) string {
	var out strings.Builder
	out.WriteString(`# How faithful the API model is

This page is written from the conformance table by ` + "`make conformance-record`" + `; a test fails when it is stale. Each row
of the table is one question put to the model and to a real kube-apiserver (` + RealVersion + `) through the same client code; replies
are equal in status code, headers (Content-Type, Warning, Retry-After, Allow), reason, message, causes, details, objects and
watch frames, after only this was made equal: UIDs, revisions (to ranks), times (to distances from the row's start), generated
names, allocated addresses and ports, the order of what the real server takes from a map, the difference of internal Go
structs that it puts behind one sentence about pods, bookmarks that only tell a stream's progress, and managedFields outside the areas that ask for them.

Those areas (apply, ownership, managed fields) run on a model that tracks ownership from the start (` + "`Options.TrackFields`" + `). A model
that is not told to does so from the first apply to an object on, and works out then what was owned before; a test holds it
against the other one: what it shows is the same. So in worlds in which nobody applies clients see no managedFields.

## The same

`)
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
	out.WriteString("| area | rows | the same | accepted differences |\n|---|---:|---:|---:|\n")
	for _, a := range Areas(rows) {
		fmt.Fprintf(&out, "| %s | %d | %d | %d |\n", a, same[a]+other[a], same[a], other[a])
	}
	fmt.Fprintf(&out, "| **all** | **%d** | **%d** | **%d** |\n", total+excused, total, excused)
	out.WriteString("\nBeside the table, `make conformance OPS=20000` draws random sequences of operations by two clients over " +
		strings.Join(DrawnKinds, ", ") + "\nand compares every reply, the final objects and every watch stream in the same way. Applies by three managers over the same kinds,\n" +
		"and applies and other writes to types whose definitions are drawn as well (three of growing richness, the last in two versions), each\n" +
		"add a fourth of that, ownership included. Left out there: scaling to what is there already, empty maps in metadata, and which one of\n" +
		"several undeclared fields the error of an apply names, which on the real server is chance.\n\n" +
		"The OpenAPI v3 documents of built-in types are compared too: types, formats, references, list types and their keys, patch strategies\n" +
		"and kinds are those of the real server. Not published are enumerations, unions and the schemas of lists; some thirty fields are said to be required\n" +
		"that may be left out. OpenAPI v2 is refused.\n")
	section(&out, "Different, and why",
		"Each of these rows is asserted to be still different; one that has come to agree fails the test until its excuse is removed.",
		rows, func(r Row) bool { return r.Differs != "" && !r.Refused })
	section(&out, "Refused",
		"The model answers these with a status error that says that it does not model what was asked, and names it. It never guesses.",
		rows, func(r Row) bool { return r.Refused })
	return out.String()
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
