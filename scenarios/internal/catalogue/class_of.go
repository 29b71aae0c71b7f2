package catalogue

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
)

// scenarios is the directory of the reference scenarios, whose stories the catalogue has.
const scenarios = "github.com/wavetank/wavetank/scenarios/"

// cell is a case of a reference scenario with one variant.
type cell struct{ scenario, of, variant string }

// cellOf is what a test of a reference scenario ran: TestMatrix/<case>/<variant>, or
// TestDemo/<variant>, whose cells are those of reports/out/demo.json. It is empty for other tests.
func (l classLinks) cellOf(s *story.Story) cell {
	scenario, ours := strings.CutPrefix(s.Package, scenarios)
	parts := strings.Split(s.Test, "/")
	switch {
	case ours && len(parts) == 3 && parts[0] == "TestMatrix":
		return cell{scenario, parts[1], parts[2]}
	case ours && len(parts) == 2 && parts[0] == "TestDemo":
		return cell{scenario, l.shown[cell{scenario, "", parts[1]}], parts[1]}
	}
	return cell{}
}

// knownCell is the stored story that makes a cell fail, and its class.
type knownCell struct {
	class Class
	story *story.Story
}

// knownCells reads which cells fail by the stories of classes, as the scenarios' results say.
func knownCells(root string) (map[cell]knownCell, error) {
	classes, err := ReadClasses(root)
	if err != nil {
		return nil, err
	}
	stories, folders := map[string]knownCell{}, map[string]bool{}
	for _, c := range classes {
		for _, file := range c.Stories {
			s, err := readKept(root, file)
			if err != nil {
				return nil, err
			}
			if s != nil {
				stories[file] = knownCell{c, s}
				folders[packageOf(file)] = true
			}
		}
	}
	out := map[cell]knownCell{}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(dir), "results.json"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var file struct {
			Results []struct{ Case, Variant, Story string }
		}
		if err == nil {
			err = json.Unmarshal(data, &file)
		}
		if err != nil {
			return nil, err
		}
		for _, r := range file.Results {
			if k, ok := stories[path.Join(dir, "testdata", "catalogue", r.Story)]; ok {
				out[cell{path.Base(dir), part(r.Case), part(r.Variant)}] = k
			}
		}
	}
	return out, nil
}

// part is a name as the name of a test has it.
func part(name string) string { return strings.ReplaceAll(name, " ", "_") }

// readShown reads in which case make demo showed each variant.
func readShown(path string) (map[cell]string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var rows []struct{ Scenario, Variant, Case string }
	if err == nil {
		err = json.Unmarshal(data, &rows)
	}
	out := map[cell]string{}
	for _, r := range rows {
		out[cell{r.Scenario, "", part(r.Variant)}] = part(r.Case)
	}
	return out, err
}

// classLinks finds the classes of stories of reference scenarios, for a page. It knows no class of
// anything else.
type classLinks struct {
	cells map[cell]knownCell
	shown map[cell]string // the case in which make demo showed a variant
	page  string          // of the classes, from the page
}

// ClassOf returns a function that finds the class of a story of a reference scenario, with its
// place on the page of the classes as seen from a page in dir. The function returns nil unless the
// story violates the same property under the same faults as the stored one of its cell.
func ClassOf(root, dir string) (func(*story.Story) *reports.PageLink, error) {
	l := classLinks{page: "reports/out/catalogue/" + ClassesFile}
	var err error
	if l.cells, err = knownCells(root); err != nil {
		return nil, err
	}
	if l.shown, err = readShown(filepath.Join(root, "reports", "out", "demo.json")); err != nil {
		return nil, err
	}
	if !exists(filepath.Join(root, filepath.FromSlash(l.page))) {
		l.page = "scenarios/CLASSES.md"
	}
	up, err := between(dir, root)
	l.page = up + "/" + l.page
	return l.of, err
}

func (l classLinks) of(s *story.Story) *reports.PageLink {
	k, ok := l.cells[l.cellOf(s)]
	if !ok || k.story.Property != s.Property || Pattern(k.story) != Pattern(s) {
		return nil
	}
	return &reports.PageLink{Name: k.class.Title, Page: l.page + "#" + anchor(k.class.Title)}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
