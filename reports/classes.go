package reports

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/story"
)

// Class is a class of bug: what users see, a faulty and a fixed form, where it happened, and what
// to ask in a review.
type Class struct {
	Name    string // of its file
	Title   string
	Words   []string // by which a reviewer looks for it
	Stories []string // paths of stories from the root; the first one is shown
	Bugs    []string // planted bugs of the class
	Text    string
}

// linesOfStory is how many lines of a story a class shows.
const linesOfStory = 16

// ReadClasses reads reports/classes below the root: lines "title", "words", "story" and "bugs", and
// perhaps "also" with further stories, as in "promotion/two-leaders--V1"; an empty line; and the
// text.
func ReadClasses(root string) ([]Class, error) {
	files, err := filepath.Glob(filepath.Join(root, "reports", "classes", "*.md"))
	if err != nil {
		return nil, err
	}
	var out []Class
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		head, text, ok := strings.Cut(string(data), "\n\n")
		c := Class{Name: strings.TrimSuffix(filepath.Base(file), ".md"), Text: text}
		for line := range strings.SplitSeq(head, "\n") {
			key, value, _ := strings.Cut(line, ": ")
			list := strings.Split(value, ", ")
			switch key {
			case "title":
				c.Title = value
			case "words":
				c.Words = list
			case "story":
				if value != "none" {
					c.Stories = list
				}
			case "also":
				for _, s := range list {
					scenario, name, _ := strings.Cut(s, "/")
					c.Stories = append(c.Stories, "scenarios/"+scenario+"/testdata/catalogue/"+name+".txtar")
				}
			case "bugs":
				c.Bugs = slices.DeleteFunc(list, func(bug string) bool { return bug == "none" })
			default:
				ok = false
			}
		}
		if !ok || c.Title == "" || len(c.Words) == 0 {
			return nil, fmt.Errorf("%s must begin with title:, words:, story: and bugs:, and an empty line", file)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Class) int { return cmp.Compare(a.Title, b.Title) })
	return out, nil
}

const classesHead = `# Classes of bugs

For reviews: what goes wrong in controllers, by class. This page is written by "make story-texts" from reports/classes;
do not edit it. Each class has a faulty and a fixed form, the lines of a story that led to the violation, public threads
where it happened elsewhere, and what to ask in a review.

`

// Classes is the page of the classes of bugs, with an index by word.
func Classes(root string, classes []Class) (string, error) {
	var b strings.Builder
	b.WriteString(classesHead)
	b.WriteString("| word | classes |\n| --- | --- |\n")
	for _, w := range wordIndex(classes) {
		var links []string
		for _, c := range w.Classes {
			links = append(links, fmt.Sprintf("[%s](%s)", c.Name, c.Page))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.Word, strings.Join(links, ", "))
	}
	for _, c := range classes {
		section, err := c.section(root)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + section)
	}
	return b.String(), nil
}

// section is a class as the page has it.
func (c Class) section(root string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s", c.Title, c.Text)
	if len(c.Stories) > 0 {
		s, err := readKept(root, c.Stories[0])
		if s == nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "\nFrom [its story](../%s), %s:\n\n", c.Stories[0], s.Headline())
		fmt.Fprintf(&b, "```\n%s\n```\n\n`%s`\n", strings.Join(s.Excerpt(linesOfStory), "\n"), s.Replay)
	}
	if len(c.Bugs) > 0 {
		bugs := strings.Join(c.Bugs, ", ")
		fmt.Fprintf(&b, "\nPlanted for the search in [fuzz/planted](../fuzz/planted): %s.\n", bugs)
	}
	return b.String(), nil
}

// readKept reads a story of the catalogue; nil if its scenario was deleted.
func readKept(root, file string) (*story.Story, error) {
	s, err := story.Read(filepath.Join(root, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return s, err
}

// anchor is the fragment by which a page names a heading, as GitHub makes it.
func anchor(title string) string {
	return strings.ReplaceAll(strings.ToLower(strings.NewReplacer("'", "", ",", "").Replace(title)), " ", "-")
}
