package conformance

// The result of a row, and the report of a run.

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Result is the result of one row.
type Result struct {
	Row  Row
	Diff string // empty when the arms agree; - is the real server, + the model
	// Refusing says that the model refused a request because it does not model it.
	Refusing bool
}

// Judge compares the model's observations with the real server's.
func Judge(r Row, want, got []Observed) Result {
	v := Result{Row: r, Diff: cmp.Diff(want, got)}
	for _, o := range got {
		status, _ := o.Body.(map[string]any)
		message, _ := status["message"].(string)
		v.Refusing = v.Refusing || status["reason"] == "NotModelled" || strings.Contains(message, "does not model")
	}
	return v
}

// Complaint says how a row differs from what the table says; "" if it does not.
func (r Result) Complaint() string {
	switch {
	case r.Diff == "" && r.Row.Differs == "":
		return ""
	case r.Diff == "":
		return "the arms agree by now; the row's excuse is stale: " + r.Row.Differs
	case r.Row.Refused && !r.Refusing:
		return "the model answers by now instead of refusing, and answers wrongly:\n" + r.Diff
	case r.Row.Differs != "":
		return ""
	}
	return "the model (+) differs from kube-apiserver (-):\n" + r.Diff
}

// Summary prints agreements and differences: a line an area, then every difference in full.
func Summary(results []Result) string {
	var rows []Row
	agree, excused, differ := map[string]int{}, map[string]int{}, map[string]int{}
	for _, v := range results {
		rows = append(rows, v.Row)
		switch {
		case v.Diff == "":
			agree[v.Row.Area]++
		case v.Row.Differs != "":
			excused[v.Row.Area]++
		default:
			differ[v.Row.Area]++
		}
	}
	var out strings.Builder
	total := [3]int{}
	fmt.Fprintf(&out, "%-28s %8s %10s %8s\n", "area", "agree", "accepted", "differ")
	for _, a := range Areas(rows) {
		fmt.Fprintf(&out, "%-28s %8d %10d %8d\n", a, agree[a], excused[a], differ[a])
		total[0], total[1], total[2] = total[0]+agree[a], total[1]+excused[a], total[2]+differ[a]
	}
	fmt.Fprintf(&out, "%-28s %8d %10d %8d\n", "all", total[0], total[1], total[2])
	for _, v := range results {
		if c := v.Complaint(); c != "" {
			fmt.Fprintf(&out, "\n=== %s: %s\n%s\n", v.Row.Area, v.Row.Name, c)
		}
	}
	return out.String()
}

// Sides shows, step by step, the replies of both arms where they differ. It is shorter than a diff.
func Sides(want, got []Observed) string {
	var out strings.Builder
	for i := range max(len(want), len(got)) {
		var w, g Observed
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if cmp.Equal(w, g) {
			continue
		}
		step := w.Step
		if step == "" {
			step = g.Step
		}
		fmt.Fprintf(&out, "  step %d: %s\n    want %s\n    got  %s\n", i+1, clip(step, 300), clip(oneLine(w), 3000),
			clip(oneLine(g), 3000))
	}
	return out.String()
}

func oneLine(o Observed) string {
	o.Step = ""
	data, _ := json.Marshal(o)
	return string(data)
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(slices.Concat(r[:n], []rune("…")))
	}
	return s
}
