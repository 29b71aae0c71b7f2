package catalogue

import (
	"cmp"
	"html/template"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// ClassesFile is the name of the page of the classes of bugs.
const ClassesFile = "classes.html"

// storyLinks is a story of a class, as its page shows it.
type storyLinks struct {
	Name, Shown, End string // Shown describes the story that a class shows
	File, Page       string // links; Page is that of the timeline, "" if there is none
	Replay, Make     string // commands; Make writes the timeline
}

// classSection is what the page shows of a class.
type classSection struct {
	ID, Title   string
	Words, Bugs []string
	Prose       template.HTML
	Shown       *storyLinks // nil for none
	More        []storyLinks
}

// indexWord is a word of the index, with its classes.
type indexWord struct {
	Word    string
	Classes []reports.PageLink
}

// WriteClasses writes dir/classes.html, a page with a search of the classes of bugs of the
// repository at root. Timelines that are in dir, where [WriteCatalogue] looks for them, are linked
// to; for others the page says how to make them. back is a link, or "". It returns the page's path.
func WriteClasses(root, dir, back string) (string, error) {
	classes, err := ReadClasses(root)
	if err != nil {
		return "", err
	}
	up, err := between(dir, root)
	if err != nil {
		return "", err
	}
	data := struct {
		Index, Planted string
		Words          []indexWord
		Sections       []classSection
	}{Index: back, Planted: up + "/fuzz/planted", Words: wordIndex(classes)}
	for _, c := range classes {
		s := classSection{ID: anchor(c.Title), Title: c.Title, Words: c.Words, Bugs: c.Bugs, Prose: prose(c.Text)}
		for _, file := range c.Stories {
			st, err := readKept(root, file)
			if err != nil {
				return "", err
			}
			if st == nil {
				continue
			}
			links, err := linksOf(root, dir, up, file, st)
			if err != nil {
				return "", err
			}
			if file == c.Stories[0] {
				links.Shown = c.shown(st)
				s.Shown = &links
			} else {
				s.More = append(s.More, links)
			}
		}
		data.Sections = append(data.Sections, s)
	}
	html, err := document("Classes of bugs", "classes", "classes.js", data)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	out := filepath.Join(dir, ClassesFile)
	return out, reports.WritePage(out, html)
}

// wordIndex lists the words of all classes in the order of the alphabet.
func wordIndex(classes []Class) (out []indexWord) {
	index := map[string][]reports.PageLink{}
	for _, c := range classes {
		for _, w := range c.Words {
			index[w] = append(index[w], reports.PageLink{Name: c.Title, Page: "#" + anchor(c.Title)})
		}
	}
	for _, w := range slices.Sorted(maps.Keys(index)) {
		out = append(out, indexWord{w, index[w]})
	}
	slices.SortStableFunc(out, func(a, b indexWord) int {
		return cmp.Compare(strings.ToLower(a.Word), strings.ToLower(b.Word))
	})
	return out
}

// linksOf says where a story and its timeline are, as seen from a page in dir. up is the way from
// there to the root.
func linksOf(root, dir, up, file string, s *story.Story) (storyLinks, error) {
	cell := strings.ReplaceAll(strings.TrimPrefix(s.Test, "TestMatrix/"), "_", " ")
	l := storyLinks{
		Name: path.Base(packageOf(file)) + ": " + cell,
		File: up + "/" + file, Replay: s.Replay,
		End: strings.Join(s.Excerpt(linesOfStory), "\n"),
	}
	at := timelineOf(file)
	if exists(filepath.Join(dir, filepath.FromSlash(at))) {
		l.Page = at
	}
	// go test runs in the package's directory.
	report, err := between(filepath.Join(root, filepath.FromSlash(packageOf(file))), filepath.Join(dir, path.Dir(at)))
	l.Make = s.Replay + " -sim.report=" + report
	return l, err
}

// packageOf is the directory of the scenario that a story of the catalogue is of:
// scenarios/promotion for scenarios/promotion/testdata/catalogue/two-leaders--V1.txtar.
func packageOf(file string) string { return path.Dir(path.Dir(path.Dir(file))) }

// timelineOf is where the timeline of a story of the catalogue is, as seen from the catalogue's
// page: in the folder of its scenario, because two scenarios may have stories of one name.
func timelineOf(file string) string {
	return path.Join(path.Base(packageOf(file)), strings.TrimSuffix(path.Base(file), ".txtar")+".html")
}

var (
	fenced      = regexp.MustCompile("(?s)^```[a-z]*\n(.*?)\n```$")
	inlineCode  = regexp.MustCompile("`([^`]+)`")
	inlineLink  = regexp.MustCompile(`\[([^\]]+)\]\((https://[^)\s]+)\)`)
	faultyLines = regexp.MustCompile(`(?m)^\s*// faulty.*$`)
	fixedLines  = regexp.MustCompile(`(?m)^\s*// fixed.*$`)
)

// prose renders the Markdown that classes are written in: paragraphs with `code` and links, and
// code between fences, without empty lines.
func prose(text string) template.HTML {
	var b strings.Builder
	for _, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if m := fenced.FindStringSubmatch(block); m != nil {
			code := template.HTMLEscapeString(m[1])
			code = faultyLines.ReplaceAllString(code, `<b class="bad">$0</b>`)
			code = fixedLines.ReplaceAllString(code, `<b class="good">$0</b>`)
			b.WriteString(`<pre tabindex="0">` + code + "</pre>\n")
			continue
		}
		p := template.HTMLEscapeString(block)
		p = inlineLink.ReplaceAllString(p, `<a href="$2">$1</a>`)
		p = inlineCode.ReplaceAllString(p, `<code>$1</code>`)
		b.WriteString("<p>" + p + "</p>\n")
	}
	return template.HTML(b.String())
}
