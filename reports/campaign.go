package reports

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

type findingRow struct {
	F       story.Finding
	Message string
	Replay  string
	Thumb   template.HTML
	Page    string
}

type faultRow struct {
	story.FaultTotal
	InjectedShare, ObservedShare float64
}

type probeRow struct {
	story.ProbeTotal
	Share float64
}

// campaignPage is the page of a campaign: what was tried, what it cost, what never happened, and
// what was found. The function pages returns the address of a story's timeline by the name of its
// file; it may be nil. The link back is index, or "" for none.
func campaignPage(r *story.Result, pages func(name string) string, index string) ([]byte, error) {
	data := struct {
		R         *story.Result
		Title     string
		Index     string
		Tiles     [][2]string
		Findings  []findingRow
		Faults    []faultRow
		Sometimes []probeRow
		Growth    template.HTML
		Sites     siteTable
		Unreached []story.Unreached
	}{R: r,
		Sites: newSiteTable(r.Sites), Unreached: r.Unreached(),
		Title: strings.ReplaceAll(r.Test, "_", " "), Index: index, Growth: plot(r.Growth)}
	rate := func(n int) string { return perSecond(n, r.Elapsed) }
	data.Tiles = [][2]string{
		{"runs", count(r.Runs)}, {"runs a second", rate(r.Runs)},
		{"steps", count(r.Steps)}, {"reconciles", count(r.Reconciles)}, {"requests", count(r.Requests)},
		{"virtual time", duration(r.Virtual)}, {"real time", duration(r.Elapsed)},
		{"orders of events seen", count(r.Orders)},
	}
	for _, f := range story.Causes(r.Findings) {
		row := findingRow{F: f}
		if s, err := story.Decode([]byte(f.Story)); err == nil {
			row.Message, row.Replay, row.Thumb = s.Message, s.Replay, thumbnailOf(s.History)
			if pages != nil {
				row.Page = pages(s.Name())
			}
		}
		data.Findings = append(data.Findings, row)
	}
	for _, f := range r.Faults {
		injected, observed := percent(f.Injected, f.Opportunities), percent(f.Observed, f.Injected)
		data.Faults = append(data.Faults, faultRow{f, injected, observed})
	}
	for _, p := range r.Sometimes {
		data.Sometimes = append(data.Sometimes, probeRow{p, percent(p.Reached, r.Runs)})
	}
	return document(r.Test, "campaign", data)
}

// plot is a curve of the orders of events that had been seen after a number of runs.
func plot(g []story.Growth) template.HTML {
	if len(g) < 2 {
		return ""
	}
	const w, h, left, bottom = 1080.0, 200.0, 52.0, 24.0
	last := g[len(g)-1]
	x := func(runs int) float64 { return left + (w-left-12)*float64(runs)/float64(max(1, last.Runs)) }
	y := func(orders int) float64 {
		return h - bottom - (h-bottom-12)*float64(orders)/float64(max(1, last.Orders))
	}
	var line strings.Builder
	for i, p := range g {
		fmt.Fprintf(&line, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], x(p.Runs), y(p.Orders))
	}
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg class="plot" viewBox="0 0 %g %g" role="img"`, w, h)
	fmt.Fprintf(&svg, ` aria-label="%d different orders of events after %d runs">`, last.Orders, last.Runs)
	fmt.Fprintf(&svg, `<path class="axis" d="M%g 12V%gH%g" fill="none"/>`, left, h-bottom, w-12)
	fmt.Fprintf(&svg, `<path class="under" d="%sL%.1f %.1fL%.1f %.1fZ"/>`,
		line.String(), x(last.Runs), h-bottom, x(g[0].Runs), h-bottom)
	fmt.Fprintf(&svg, `<path class="curve" d="%s"/>`, line.String())
	fmt.Fprintf(&svg, `<text x="%g" y="%.1f" text-anchor="end">%s</text>`, left-6, y(last.Orders)+4,
		count(last.Orders))
	fmt.Fprintf(&svg, `<text x="%g" y="%g" text-anchor="end">%s runs</text>`, w-12, h-7, count(last.Runs))
	fmt.Fprintf(&svg, `<text x="%g" y="%g">0</text></svg>`, left, h-7)
	return template.HTML(svg.String())
}
