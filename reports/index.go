package reports

import (
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// BesideSuffix ends the names of pages that show a story next to the run of another variant.
const BesideSuffix = ".beside.html"

type campaignRow struct {
	Name, Page, Broke, Rate, By string
	Runs, Injected              int
}

// wrong is a cause of failures in one package, as [story.Causes] tells them apart, with the faults
// of its shortest story. Campaigns that found the same, as those of shards and variants, are one.
type wrong struct {
	key                              string
	steps                            int // of its story
	Package, Kind, Property, Message string
	Line                             string // of the program, that decided; "" if it is not known
	Faults                           []string
	Class                            *PageLink  // of bugs; nil if it is not known
	In                               []PageLink // campaigns
	Runs                             int        // that failed
}

// packageGroup is what an index shows of the tests of one package.
type packageGroup struct {
	Name      string
	Campaigns []campaignRow
	Cards     []Card
}

// Front is what an index shows next to the results below its directory.
type Front struct {
	Title string
	First []template.HTML // before everything else
	Parts []template.HTML // before the results
	Links [][2]string     // pairs of name and address
	// Planted is set if the failures are those of known bugs, which were looked for on purpose.
	Planted bool
	// Class returns the class of bugs of a story, or nil if it is not known. It may be nil itself.
	Class func(*story.Story) *PageLink
}

// indexPage is what the index page shows.
type indexPage struct {
	Front
	Runs      int
	Campaigns int
	Stories   int
	Wrong     []wrong
	Packages  []packageGroup
	dir       string
	pages     map[string]string // name of a story's file → its timeline, from dir
	results   []string
}

// WriteIndex writes dir/index.html: what is wrong, and for each package every campaign's result and
// every run below dir, each with its page. Pages that are missing are made. It returns the page's
// path. It is an error if there is neither a result nor a run, or if a page to be written would
// replace a file that Wavetank did not write.
func WriteIndex(dir string, front Front) (string, error) {
	x := &indexPage{Front: front, dir: dir, pages: map[string]string{}}
	if x.Class == nil {
		x.Class = func(*story.Story) *PageLink { return nil }
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, RunSuffix):
			return x.run(path)
		case strings.HasSuffix(path, ".json"):
			x.results = append(x.results, path)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	for _, path := range x.results {
		r, err := story.ReadResult(path)
		if err != nil {
			continue // some other JSON: directories are shared
		}
		if err := x.campaign(path, r); err != nil {
			return "", err
		}
	}
	if x.Campaigns+x.Stories == 0 {
		return "", fmt.Errorf("no result (*.json) lies below %s; run the campaigns with -sim.report or SIM_REPORT", dir)
	}
	slices.SortStableFunc(x.Wrong, func(a, b wrong) int { return strings.Compare(a.Package, b.Package) })
	slices.SortStableFunc(x.Packages, func(a, b packageGroup) int { return strings.Compare(a.Name, b.Name) })
	html, err := document(x.Title, "index", x)
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "index.html")
	return out, WritePage(out, html)
}

// Total is the number of runs, for people.
func (x *indexPage) Total() string { return count(x.Runs) }

// from is a path as a link on the index page.
func (x *indexPage) from(path string) string {
	rel, err := filepath.Rel(x.dir, path)
	if err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

func (x *indexPage) run(path string) error {
	r, err := ReadRun(path)
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(path, RunSuffix)
	if _, err := os.Stat(base + ".html"); err != nil {
		if _, err := WriteRun(filepath.Dir(path), *r); err != nil {
			return err
		}
	}
	c, of := Card{Title: r.Name}, ""
	if r.Story != nil {
		c, of = NewCard(r.Story), r.Story.Package
		c.Class = x.Class(r.Story)
		x.pages[r.Story.Name()] = x.from(base + ".html")
	}
	c.Page = x.from(base + ".html")
	if _, err := os.Stat(base + BesideSuffix); err == nil {
		c.Beside = x.from(base + BesideSuffix)
	}
	x.Stories++
	g := x.group(of)
	g.Cards = append(g.Cards, c)
	return nil
}

// group is what the page shows of a package.
func (x *indexPage) group(name string) *packageGroup {
	i := slices.IndexFunc(x.Packages, func(g packageGroup) bool { return g.Name == name })
	if i < 0 {
		i = len(x.Packages)
		x.Packages = append(x.Packages, packageGroup{Name: name})
	}
	return &x.Packages[i]
}

// found adds what a campaign found to what is wrong.
func (x *indexPage) found(r *story.Result, f story.Finding, at PageLink) {
	w := wrong{key: r.Package + "\n" + f.Group(), steps: f.Steps, Package: r.Package, Kind: f.Kind,
		Property: cmp.Or(f.Property, f.Cause), Line: shortLine(f.Line())}
	if s, err := story.Decode([]byte(f.Story)); err == nil {
		w.Message, w.Faults = s.Message, FaultNames(s)
		w.Class = x.Class(s)
	}
	i := slices.IndexFunc(x.Wrong, func(o wrong) bool { return o.key == w.key })
	switch {
	case i < 0:
		i = len(x.Wrong)
		x.Wrong = append(x.Wrong, w)
	case w.steps < x.Wrong[i].steps:
		w.Runs, w.In = x.Wrong[i].Runs, x.Wrong[i].In
		x.Wrong[i] = w
	}
	x.Wrong[i].Runs += f.Count
	if !slices.Contains(x.Wrong[i].In, at) {
		x.Wrong[i].In = append(x.Wrong[i].In, at)
	}
}

func (x *indexPage) campaign(path string, r *story.Result) error {
	dir := filepath.Dir(path)
	up, err := filepath.Rel(dir, x.dir)
	if err != nil {
		return err
	}
	up = filepath.ToSlash(up)
	html, err := campaignPage(r, func(name string) string {
		if p := x.pages[name]; p != "" {
			return up + "/" + p
		}
		return ""
	}, up+"/index.html")
	if err != nil {
		return err
	}
	out := filepath.Join(dir, story.PathPart(strings.TrimSuffix(filepath.Base(path), ".json"))+".html")
	if err := WritePage(out, html); err != nil {
		return err
	}
	row := campaignRow{Name: strings.ReplaceAll(r.Test, "_", " "), Page: x.from(out), Runs: r.Runs}
	row.Rate = perSecond(r.Runs, r.Elapsed)
	for _, f := range r.Faults {
		row.Injected += f.Injected
	}
	for _, f := range story.Causes(r.Findings) {
		x.found(r, f, PageLink{row.Name, row.Page})
		if row.Broke == "" {
			row.Broke, row.By = f.Cause, fmt.Sprintf("%s, run %d", f.Strategy, f.First)
		} else {
			row.Broke += "; " + f.Cause
		}
	}
	x.Runs += r.Runs
	x.Campaigns++
	g := x.group(r.Package)
	g.Campaigns = append(g.Campaigns, row)
	return nil
}
