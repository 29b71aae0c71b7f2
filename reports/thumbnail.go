package reports

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
)

// storyLine is a line of a story's history.
type storyLine struct{ time, actor, text string }

func parseLine(line string) storyLine {
	time, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimPrefix(rest, strings.Repeat(" ", max(0, 12-len(time)))) // see history.Tell
	if strings.HasPrefix(rest, " ") || rest == "" {
		return storyLine{time: time, text: strings.TrimSpace(rest)}
	}
	actor, text, _ := strings.Cut(rest, " ")
	return storyLine{time, actor, strings.TrimSpace(text)}
}

// thumbnail is a small picture of a story, made from its lines alone: who wrote when, which watch
// events were late, and where the violation is. It uses the colours of the page that contains it.
type thumbnail struct {
	b       strings.Builder
	lanes   map[string]int
	written map[string][2]float64 // revision → where it was written
	begun   map[string]float64    // actor → where its reconcile began
	step    float64
}

const (
	thumbWidth = 320
	thumbLane  = 15
)

func newThumbnail(lines []storyLine) *thumbnail {
	t := &thumbnail{lanes: map[string]int{}, written: map[string][2]float64{}, begun: map[string]float64{}}
	t.step = (thumbWidth - 24) / float64(max(1, len(lines)))
	add := func(name string) {
		if _, ok := t.lanes[name]; !ok && name != "" {
			t.lanes[name] = len(t.lanes)
		}
	}
	add("user")
	add(server)
	for _, l := range lines {
		add(l.actor)
	}
	for _, l := range lines {
		add(hostIn(l.text))
	}
	return t
}

// hostIn is the host that a request in words goes to; "" for requests to the API server and
// everything else.
func hostIn(text string) string {
	words := strings.Fields(text)
	if len(words) < 2 || words[0] != strings.ToUpper(words[0]) || !strings.Contains(words[1], ".") {
		return ""
	}
	host, _, _ := strings.Cut(words[1], "/")
	return host
}

func (t *thumbnail) y(lane string) float64 { return 14 + float64(t.lanes[lane])*thumbLane }

func hueOf(actor string) string {
	if actor == "user" || actor == server {
		return map[string]string{"user": "user", server: "server"}[actor]
	}
	if i := strings.LastIndex(actor, "/"); i >= 0 {
		if incarnation, err := strconv.Atoi(actor[i+1:]); err == nil {
			return fmt.Sprintf("process-%d", (incarnation-1)%4)
		}
		return "builtin"
	}
	return "outside"
}

// thumbnailOf draws the lines of a story's history.
func thumbnailOf(history []string) template.HTML {
	var lines []storyLine
	for _, l := range history {
		lines = append(lines, parseLine(l))
	}
	t := newThumbnail(lines)
	height := 16 + len(t.lanes)*thumbLane
	fmt.Fprintf(&t.b,
		`<svg viewBox="0 0 %d %d" role="img" aria-label="%d lines in %d lanes" style="stroke-linecap:round">`,
		thumbWidth, height, len(lines), len(t.lanes))
	for _, name := range sortedKeys(t.lanes) {
		fmt.Fprintf(&t.b, `<path d="M8 %.1fH%d" style="stroke:var(--%s);opacity:.35"/>`,
			t.y(name), thumbWidth-8, hueOf(name))
	}
	for i, l := range lines {
		t.draw(12+t.step*(float64(i)+0.5), l)
	}
	fmt.Fprintf(&t.b, `<path d="M%d 4V%d" style="stroke:var(--broke);stroke-width:2.5"/></svg>`, thumbWidth-9, height-4)
	return template.HTML(t.b.String()) // numbers and names of colours only: no text of the story is in it
}

func (t *thumbnail) draw(x float64, l storyLine) {
	y, hue := t.y(l.actor), hueOf(l.actor)
	first, _, _ := strings.Cut(l.text, " ")
	switch {
	case l.actor == "":
	case first == "reconciles":
		t.begun[l.actor] = x
		fmt.Fprintf(&t.b, `<circle cx="%.1f" cy="%.1f" r="3" style="fill:var(--%s)"/>`, x, y, hue)
		if strings.Contains(l.text, "its cache") {
			fmt.Fprintf(&t.b,
				`<circle cx="%.1f" cy="%.1f" r="5.5" style="fill:none;stroke:var(--late);stroke-width:1.6"/>`,
				x, y)
		}
	case first == "ends:":
		fmt.Fprintf(&t.b, `<path d="M%.1f %.1fH%.1f" style="stroke:var(--again);stroke-width:5;opacity:.6"/>`,
			t.begun[l.actor], y, x)
	case first == "fault:", first == "is", first == "no":
		fmt.Fprintf(&t.b, `<path d="M%.1f %.1fl5 8m0 -8l-5 8" style="stroke:var(--fault);stroke-width:2"/>`, x-2.5, y-4)
	case first == "learns":
		if at, ok := t.written[revisionIn(l.text)]; ok {
			fmt.Fprintf(&t.b, `<path d="M%.1f %.1fL%.1f %.1f" style="stroke:var(--late);stroke-width:1.6"/>`,
				at[0], at[1], x, y)
		}
	case hostIn(l.text) != "":
		t.arrow(x, y, t.y(hostIn(l.text)), hue, "outside")
	case revisionIn(l.text) != "":
		t.written[revisionIn(l.text)] = [2]float64{x, t.y(server)}
		t.arrow(x, y, t.y(server), hue, hue)
	}
}

func (t *thumbnail) arrow(x, from, to float64, line, end string) {
	fmt.Fprintf(&t.b, `<path d="M%.1f %.1fV%.1f" style="stroke:var(--%s);stroke-width:1.5"/>`, x, from, to, line)
	fmt.Fprintf(&t.b, `<circle cx="%.1f" cy="%.1f" r="2.6" style="fill:var(--%s)"/>`, x, to, end)
}

// revisionIn is the resource version that a line names; "" for none.
func revisionIn(text string) string {
	_, rest, ok := strings.Cut(text, " rv ")
	if !ok {
		return ""
	}
	rv, _, _ := strings.Cut(strings.TrimRight(rest, " "), " ")
	return strings.TrimRight(rv, ",;")
}
