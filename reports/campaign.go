package reports

import (
	"embed"
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/wavetank/wavetank/internal/story"
)

//go:embed templates/*.html
var templateFiles embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"count": count,
	"ms":    func(d time.Duration) string { return d.Round(time.Millisecond).String() },
}).ParseFS(templateFiles, "templates/*.html"))

// document renders one of the templates as a page.
func document(title, name string, data any) ([]byte, error) {
	body, err := fill(name, data)
	if err != nil {
		return nil, err
	}
	return Document(title, body, "")
}

// Document is a page with a body, and with a script of dist, or "" for none.
func Document(title string, body template.HTML, script string) ([]byte, error) {
	p := page{Title: title, Body: body}
	if script != "" {
		code, err := dist.ReadFile("dist/" + script)
		if err != nil {
			return nil, err
		}
		p.Script = template.JS(code)
	}
	return p.render()
}

// fill fills one of the templates.
func fill(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := templates.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err
}

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

// Campaign is the page of a campaign: what was tried, what it cost, what never happened, what was
// found. The function pages returns the address of a story's timeline by the name of its file; it
// may be nil. The link back is index, or "" for none.
func Campaign(r *story.Result, pages func(name string) string, index string) ([]byte, error) {
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
			row.Message, row.Replay, row.Thumb = s.Message, s.Replay, Thumbnail(s.History)
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

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return math.Round(1000*float64(part)/float64(whole)) / 10
}

// duration is a time in words, with a precision that fits its length.
func duration(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return fmt.Sprintf("%s h", count(int(d.Round(time.Hour).Hours())))
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func perSecond(n int, d time.Duration) string {
	if d <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.3g", float64(n)/d.Seconds())
}

// count writes a number in groups of three.
func count(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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
