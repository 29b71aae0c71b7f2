package reports

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"
)

// The script and the style of the pages are built from web/ by make web and embedded, so that Go
// users need no Node.
//
//go:embed dist/page.js dist/classes.js dist/page.css dist/page.html
var dist embed.FS

var pageTemplate = template.Must(template.New("page.html").ParseFS(dist, "dist/page.html"))

// htmlPage is what dist/page.html is filled with.
type htmlPage struct {
	Title  string
	Style  template.CSS
	Script template.JS
	Data   template.JS // the runs for the script, packed
	Bodies template.JS // a list of strings, packed; unpacked when the first step is selected
	Text   []string    // for readers without script
	Body   template.HTML
}

func (p htmlPage) render() ([]byte, error) {
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
	return withMarker(b.Bytes()), nil
}

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
	p := htmlPage{Title: title, Body: body}
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
