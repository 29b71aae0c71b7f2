package reports

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strconv"
)

// The script and the style of the pages are built from web/ by make web and embedded, so that Go
// users need no Node.
//
//go:embed dist/page.js dist/classes.js dist/page.css dist/page.html
var dist embed.FS

var pageTemplate = template.Must(template.New("page.html").ParseFS(dist, "dist/page.html"))

// page is what dist/page.html is filled with.
type page struct {
	Title  string
	Style  template.CSS
	Script template.JS
	Data   template.JS // the runs for the script, packed
	Bodies template.JS // a list of strings, packed; unpacked when the first step is selected
	Text   []string    // for readers without script
	Body   template.HTML
}

func (p page) render() ([]byte, error) {
	css, _ := dist.ReadFile("dist/page.css") // embedded: they are there
	p.Style = template.CSS(css)
	if p.Data != "" {
		js, _ := dist.ReadFile("dist/page.js")
		p.Script = template.JS(js)
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, err
	}
	return mark(b.Bytes()), nil
}

// Timeline renders a run as one HTML page that needs no network and no other file.
func Timeline(r Run) ([]byte, error) {
	r.History = abridge(r.History)
	return timelines(r.title(), r)
}

// Compare renders two runs on one page, side by side, and marks the first event that differs.
func Compare(a, b Run) ([]byte, error) {
	a.History, b.History = abridge(a.History), abridge(b.History)
	return timelines(a.title()+" beside "+b.title(), a, b)
}

// timelines draws runs whose histories are abridged.
func timelines(title string, runs ...Run) ([]byte, error) {
	var data struct {
		Runs  []*model `json:"runs"`
		Parts int      `json:"parts"` // the first event that differs; -1 for none
	}
	data.Parts = -1
	if len(runs) == 2 {
		data.Parts = firstDifference(runs[0], runs[1])
	}
	p := page{Title: title}
	var bodies []string
	for _, r := range runs {
		m := newModel(r)
		m.shift(len(bodies))
		bodies = append(bodies, m.bodies...)
		data.Runs = append(data.Runs, m)
		p.Text = append(append(p.Text, r.head()...), first(r.History.Render(), longestText)...)
	}
	var err error
	if p.Data, err = pack(data); err != nil {
		return nil, err
	}
	if p.Bodies, err = pack(bodies); err != nil {
		return nil, err
	}
	return p.render()
}

// firstDifference is the first event that differs between two runs. Bodies are not compared,
// because two variants of one program may write the same in different words.
func firstDifference(a, b Run) int {
	for i := range a.History.Events {
		if i >= len(b.History.Events) || a.History.Events[i].String() != b.History.Events[i].String() {
			return i
		}
	}
	if len(b.History.Events) > len(a.History.Events) {
		return len(a.History.Events)
	}
	return -1
}

// shift adds to the indices of bodies when tables are joined.
func (m *model) shift(n int) {
	by := func(place *int) {
		if *place > 0 {
			*place += n
		}
	}
	for i := range m.Events {
		e := &m.Events[i]
		by(&e.Sent)
		by(&e.Received)
		for j := range e.Changes {
			by(&e.Changes[j].After)
			by(&e.Changes[j].Before)
		}
	}
}

// pack compresses JSON: gzip, in base64, in quotes. About a tenth of the size of a run remains.
func pack(v any) (template.JS, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(data); err != nil {
		return "", fmt.Errorf("packing: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("packing: %w", err)
	}
	return template.JS(strconv.Quote(base64.StdEncoding.EncodeToString(b.Bytes()))), nil
}

// longestText is how many lines readers without script get at most.
const longestText = 2000

// head is the text above the story of a run, for readers without script: what was violated, and how
// to replay it.
func (r Run) head() (lines []string) {
	if s := r.Story; s != nil {
		lines = append(lines, s.Headline())
		if s.Property != "" {
			lines = append(lines, s.Message)
		}
		lines = append(lines, "replay: "+s.Replay, "")
	}
	return lines
}

func first[T any](lines []T, n int) []T { return lines[:min(n, len(lines))] }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
