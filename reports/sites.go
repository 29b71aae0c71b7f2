package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/wavetank/wavetank/internal/story"
)

// Lines of the texts about what was tried.
const (
	maxSites     = 7 // rows of the table, which has three lines besides
	maxUnreached = 5 // for each controller
)

// Sites is a table of the lines of a program that send requests: how often each fault was injected
// at each of them, the line with the most that never were first. It has ten lines at most, and is
// "" if nothing was sent.
func Sites(r *story.Result) string {
	if len(r.Sites) == 0 {
		return ""
	}
	columns := story.Columns(r.Sites)
	classes, moments := byClass(columns)
	var b strings.Builder
	blank := 0
	for _, s := range r.Sites {
		blank += s.Blank()
	}
	fmt.Fprintf(&b, "faults injected, by line that sends requests: %d of %d fields are 0 (x/y is before/after)\n",
		blank, fields(r.Sites))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "\tsent")
	for _, class := range classes {
		fmt.Fprintf(w, "\t%s", class)
	}
	fmt.Fprintln(w)
	for _, s := range first(story.WorstFirst(r.Sites), maxSites) {
		fmt.Fprintf(w, "%s %s %s\t%d", shortLine(s.Source), s.Verb, s.Object, s.Sent)
		for i := range classes {
			fmt.Fprintf(w, "\t%s", strikesAt(s, moments[i]))
		}
		fmt.Fprintln(w)
	}
	w.Flush() // into b, which takes everything
	if more := len(r.Sites) - maxSites; more > 0 {
		fmt.Fprintf(&b, "and %d more: see the page of the campaign, or -sim.coverage=FILE\n", more)
	}
	return b.String()
}

// fields counts the faults that could have been injected at the lines.
func fields(sites []story.SiteTotal) (n int) {
	for _, s := range sites {
		n += len(s.Struck)
	}
	return n
}

// byClass groups columns by the fault's constructor.
func byClass(columns []string) (classes []string, moments [][]string) {
	for _, column := range columns {
		class, _, _ := strings.Cut(column, " ")
		if column == story.StaleReads {
			class = column
		}
		i := slices.Index(classes, class)
		if i < 0 {
			i, classes, moments = len(classes), append(classes, class), append(moments, nil)
		}
		moments[i] = append(moments[i], column)
	}
	return classes, moments
}

// strikesAt has the counts of one fault at one line, at each of its moments.
func strikesAt(s story.SiteTotal, moments []string) string {
	var out []string
	possible := false
	for _, m := range moments {
		if n := s.At(m); n != nil {
			possible = true
			out = append(out, strconv.Itoa(n.Injected))
		} else {
			out = append(out, "–")
		}
	}
	if !possible {
		return "–"
	}
	return strings.Join(out, "/")
}

// Unreached names the functions of a program whose writes no run has sent: five lines at most for
// each controller. It is "" if there are none.
func Unreached(r *story.Result) string {
	var b strings.Builder
	all := r.Unreached()
	for len(all) > 0 {
		controller := all[0].Controller
		n := slices.IndexFunc(all, func(u story.Unreached) bool { return u.Controller != controller })
		if n < 0 {
			n = len(all)
		}
		fmt.Fprintf(&b, "%s: writes in the source that no run has sent\n", controller)
		for i, u := range all[:n] {
			if i == maxUnreached-1 && n > maxUnreached {
				fmt.Fprintf(&b, "  and %d more functions\n", n-i)
				break
			}
			fmt.Fprintf(&b, "  %s\n", u.Sentence())
		}
		all = all[n:]
	}
	return b.String()
}

// siteTable is the table of a campaign's page: a column for each fault and moment.
type siteTable struct {
	Columns       [][2]string // the fault's constructor and the moment
	Rows          []siteRow
	Blank, Fields int
}

type siteRow struct {
	story.SiteTotal
	Line  string // with the last folder of its path
	Cells []*story.Strike
}

func newSiteTable(sites []story.SiteTotal) (t siteTable) {
	columns := story.Columns(sites)
	for _, column := range columns {
		class, moment, _ := strings.Cut(column, " ")
		t.Columns = append(t.Columns, [2]string{class, moment})
	}
	t.Fields = fields(sites)
	for _, s := range story.WorstFirst(sites) {
		row := siteRow{SiteTotal: s, Line: shortLine(s.Source)}
		for _, column := range columns {
			row.Cells = append(row.Cells, s.At(column))
		}
		t.Rows, t.Blank = append(t.Rows, row), t.Blank+s.Blank()
	}
	return t
}
