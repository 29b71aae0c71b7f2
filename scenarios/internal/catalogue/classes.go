package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// Class is a class of bug: what users see, a faulty and a fixed form, where it happened, and what
// to ask in a review.
type Class struct {
	Name    string // of its file
	Title   string
	Words   []string // by which a reviewer looks for it
	Stories []string // paths of stories from the root; the first one is shown
	// Faults are the faults of the class: its first story has at least one of them and no other,
	// and all its stories have at least one. It is empty if the class needs no particular fault.
	Faults []string
	Fixed  string   // the variant of the first story's scenario that passes the case of that story
	Bugs   []string // planted bugs of the class
	Text   string
}

// linesOfStory is how many lines of a story a class shows.
const linesOfStory = 16

// ReadClasses reads scenarios/classes below the root: lines "title", "words", "story", "faults" and
// "bugs", and perhaps "also" with further stories, as in "promotion/two-leaders--V1", and "fixed"
// with a variant; an empty line; and the text.
func ReadClasses(root string) ([]Class, error) {
	files, err := filepath.Glob(filepath.Join(root, "scenarios", "classes", "*.md"))
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
			case "faults":
				c.Faults = slices.DeleteFunc(list, func(f string) bool { return f == "none" || f == "any" })
			case "fixed":
				c.Fixed = value
			case "bugs":
				c.Bugs = slices.DeleteFunc(list, func(bug string) bool { return bug == "none" })
			default:
				ok = false
			}
		}
		if !ok || c.Title == "" || len(c.Words) == 0 {
			return nil, fmt.Errorf("%s must begin with title:, words:, story:, faults: and bugs:, and an empty line",
				file)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Class) int { return cmp.Compare(a.Title, b.Title) })
	return out, nil
}

const classesHead = `# Classes of bugs

What goes wrong in controllers, for code reviews. Each class has a faulty and a fixed form, a question for the review,
public threads, and the lines of a stored story that led to the violation. An index by words is at the end. "make
story-texts" writes this page from scenarios/classes; do not edit it.

A story is one failing run of a simulated cluster, shrunk. V1, V2, … are variants of a controller that differ in one
policy. A property is *always* judged after every step, or *eventually* when nothing is left to do. In a line, app/2
is the second process named app, after a crash or restart of app/1; #3 is its third reconcile of that key; rv is the
resource version after a write; "fault:" is an injected failure. The last line is what the property observed. The
command below it replays the run.
`

// Classes is the page of the classes of bugs, with an index by word at its end.
func Classes(root string, classes []Class) (string, error) {
	var b strings.Builder
	b.WriteString(classesHead)
	for _, c := range classes {
		section, err := c.section(root)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + section)
	}
	b.WriteString("\n" + indexOf(classes))
	return b.String(), nil
}

// indexOf is the index of the classes by word.
func indexOf(classes []Class) string {
	var b strings.Builder
	b.WriteString("## Index\n\n| word | classes |\n| --- | --- |\n")
	for _, w := range wordIndex(classes) {
		var links []string
		for _, c := range w.Classes {
			links = append(links, fmt.Sprintf("[%s](%s)", c.Name, c.Page))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", w.Word, strings.Join(links, ", "))
	}
	return b.String()
}

// leftOut matches the forms in which an excerpt says how many lines it leaves out.
var leftOut = regexp.MustCompile(`… (\d+) lines?(?: left out[^…]*)? …`)

// section is a class as the page has it.
func (c Class) section(root string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s", c.Title, c.Text)
	if len(c.Stories) > 0 {
		s, err := readKept(root, c.Stories[0])
		if s == nil {
			return b.String(), err
		}
		fmt.Fprintf(&b, "\n[A story](../%s): %s\n\n", c.Stories[0], c.shown(s))
		observed, _, _ := strings.Cut(s.Message, "\n")
		lines := leftOut.ReplaceAllString(strings.Join(s.Excerpt(linesOfStory), "\n"), "… $1 lines …")
		fmt.Fprintf(&b, "```\n%s\nviolated: %s\n```\n\n`%s`\n", lines, observed, s.Replay)
		if s.Confirmed != "" {
			fmt.Fprintf(&b, "\nConfirmed on %s.\n", s.Confirmed)
		}
	}
	if len(c.Bugs) > 0 {
		bugs := strings.Join(c.Bugs, ", ")
		fmt.Fprintf(&b, "\nPlanted for the search in [fuzz/planted](../fuzz/planted): %s.\n", bugs)
	}
	return b.String(), nil
}

// shown describes the story that the class shows: the variant that fails, by which faults, and the
// variant that passes.
func (c Class) shown(s *story.Story) string {
	how := "without a fault"
	if faults := s.FaultClasses(); len(faults) > 0 {
		how = "under " + strings.Join(faults, " and ")
	}
	return fmt.Sprintf("variant %s of scenarios/%s violates %q (%s) %s. Variant %s passes this case.",
		path.Base(s.Test), path.Base(packageOf(c.Stories[0])), s.Property, s.Kind, how, c.Fixed)
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
