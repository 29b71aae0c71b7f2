// This file renders the page of a scenario, README.md, from the table and its results.

package matrix

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// legend explains the matrix. Its argument is the scenario folder. Code is quoted by a tick.
var legend = strings.ReplaceAll(`
## Matrix

✗ fails. It links to a story whose choices make it fail, which may have been found for another case of the
property. ✗° fails on the default schedule, without any choice. ✓ passes, with the number of runs. ○ passes, but none
of the faults that the case lists was injected. † was run with an older controller or scenario. – is not run, see the
notes.

´make matrices STORY=%[1]s´ makes the runs that are missing and writes this page from [results.json](results.json).
´go test ./scenarios/%[1]s´ fails when the page is stale, repeats every failure, and runs passing cells again.

`, "´", "`")

// render returns the page of a scenario, whose folder is the working directory.
func (t Table[V]) render(folder string, cells []cell) (string, error) {
	says, err := read()
	if err != nil {
		return "", err
	}
	docs, err := constants("../../controllers/" + folder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThe thread: %s. %s\n\n", folder, says.thread, says.reports)
	b.WriteString("| variant | what it is | fails |\n|---|---|---|\n")
	for i, v := range t.Variants {
		failed, run := t.count(cells, i)
		name, text := string(v), t.About[v]
		if d, ok := docs[name]; ok {
			name, text = fmt.Sprintf("[%s](%s)", v, d.link), d.text
		}
		fmt.Fprintf(&b, "| %s | %s | %d of %d cases |\n", name, text, failed, run)
	}
	fmt.Fprintf(&b, "\n%s\n", says.shows)
	fmt.Fprintf(&b, legend, folder)
	b.WriteString(t.matrix(cells) + t.notes(cells))
	if says.tables != "" {
		b.WriteString("\n" + says.tables)
	}
	return b.String(), nil
}

// prose is what the page says of the thread and of the runs.
type prose struct{ thread, reports, shows, tables string }

// read reads thread.md, a link, and page.md: a paragraph on what the thread reports, then what the
// runs show, then sections that follow the matrix. See checkTables.
func read() (p prose, err error) {
	link, err := os.ReadFile("thread.md")
	if err != nil {
		return p, fmt.Errorf("every scenario names the thread that it was made from: %w", err)
	}
	text, err := os.ReadFile("page.md")
	if err != nil {
		return p, fmt.Errorf("every scenario says what its thread reports and what its runs show: %w", err)
	}
	reports, shows, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	reports = strings.Join(strings.Fields(reports), " ")
	shows, tables, more := strings.Cut(shows, "\n\n## ")
	if more {
		tables = "## " + tables + "\n"
	}
	return prose{strings.TrimSpace(string(link)), reports, shows, tables}, nil
}

// checkTables checks the tables of page.md. The second column names what shows the first: cases,
// tests of the folder in ticks, or "case: variant mark" with the mark of that cell.
func (t Table[V]) checkTables() (wrong []string) {
	says, err := read()
	if err != nil {
		return []string{err.Error()}
	}
	tests, _ := filepath.Glob("*_test.go") // the pattern is well-formed
	names := map[string]bool{}
	for _, path := range tests {
		data, err := os.ReadFile(path)
		if err != nil {
			return []string{err.Error()}
		}
		for _, f := range testFunction.FindAllStringSubmatch(string(data), -1) {
			names["`"+f[1]+"`"] = true
		}
	}
	for _, c := range t.Cases {
		names[c.Name] = true
		for _, v := range t.Variants {
			names[fmt.Sprintf("%s: %s %s", c.Name, v, c.Outcome(v))] = c.Outcome(v) != NotRun
		}
	}
	for line := range strings.Lines(says.tables) {
		columns := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || len(columns) < 2 || strings.HasPrefix(line, "| prediction ") ||
			strings.HasPrefix(line, "| situation ") {
			continue
		}
		for by := range strings.SplitSeq(strings.TrimSuffix(columns[1], " |"), "; ") {
			if !names[by] {
				wrong = append(wrong, fmt.Sprintf(
					"page.md: %q is shown by %q, which is no case, test or cell with that mark",
					strings.TrimPrefix(columns[0], "| "), by))
			}
		}
	}
	return wrong
}

var testFunction = regexp.MustCompile(`func (Test\w+)\(`)

// count returns how many cases a variant fails, and in how many it is run.
func (t Table[V]) count(cells []cell, variant int) (failed, run int) {
	for i := variant; i < len(cells); i += len(t.Variants) {
		if cells[i].Outcome == Fails {
			failed++
		}
		if cells[i].Outcome != NotRun {
			run++
		}
	}
	return failed, run
}

// matrix returns a row for each case, grouped by property.
func (t Table[V]) matrix(cells []cell) string {
	var b strings.Builder
	b.WriteString("| property | case |")
	for _, v := range t.Variants {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(t.Variants)+2) + "\n")
	written := map[string]bool{}
	for i := range t.Cases {
		property := t.Cases[i].Property
		if written[property] {
			continue
		}
		written[property] = true
		title := property
		for j := i; j < len(t.Cases); j++ {
			if t.Cases[j].Property != property {
				continue
			}
			fmt.Fprintf(&b, "| %s | %s |", title, t.Cases[j].Name)
			for _, c := range t.row(cells, j) {
				fmt.Fprintf(&b, " %s |", c.mark())
			}
			b.WriteString("\n")
			title = ""
		}
	}
	return b.String()
}

// row returns the cells of a case.
func (t Table[V]) row(cells []cell, i int) []cell { return cells[i*len(t.Variants):][:len(t.Variants)] }

// mark is what the matrix shows of a cell.
func (c cell) mark() string {
	switch {
	case c.Outcome == Passes && c.Faulted && len(c.Injected) == 0:
		return fmt.Sprintf("○ %d%s", c.Runs, c.age())
	case c.Outcome == Passes:
		return fmt.Sprintf("✓ %d%s", c.Runs, c.age())
	case c.Outcome == NotRun:
		return NotRun
	case c.Default:
		return "✗°"
	case c.Story == "":
		return Fails
	}
	return fmt.Sprintf("[✗](%s/%s)", catalogue, c.Story)
}

// age is a dagger if the runs were made with other code than there is now.
func (c cell) age() string {
	if c.Digest != c.Now {
		return "†"
	}
	return ""
}

// notes returns what the matrix has no place for.
func (t Table[V]) notes(cells []cell) string {
	var b strings.Builder
	list := func(title string, text func(row []cell, k cell) string) {
		var lines strings.Builder
		for i := range t.Cases {
			row := t.row(cells, i)
			group(&lines, row, func(k cell) string { return text(row, k) })
		}
		if lines.Len() > 0 {
			b.WriteString(title + lines.String())
		}
	}
	b.WriteString("\n## Notes\n\n")
	list("", func(_ []cell, k cell) string {
		switch {
		case k.Note == "":
			return ""
		case k.Outcome == NotRun:
			return fmt.Sprintf("- %s, not run: %%s: %s.\n", k.Case, k.Note)
		}
		return fmt.Sprintf("- %s: %%s: %s.\n", k.Case, k.Note)
	})
	list("\nThese passed without faults that the case lists, because they never reach the point where those are "+
		"injected:\n\n", func(_ []cell, k cell) string {
		if len(k.Never) == 0 {
			return ""
		}
		return fmt.Sprintf("- %s: %%s: %s.\n", k.Case, strings.Join(k.Never, ", "))
	})
	list(fmt.Sprintf("\nEach failure is repeated on %s with the same choices. In these, %[1]s never reaches the point "+
		"where the fault is injected:\n\n", t.Fixed), func(row []cell, k cell) string {
		if len(k.Unreached) == 0 {
			return ""
		}
		says := slices.Clone(k.Unreached)
		for i, class := range says {
			if n := row[slices.Index(t.Variants, t.Fixed)].Injected[class]; n > 0 {
				says[i] += fmt.Sprintf(" (injected %d times in its own runs of this case)", n)
			}
		}
		return fmt.Sprintf("- %s: with the choices of %%s: %s.\n", k.Case, strings.Join(says, ", "))
	})
	var commits []string
	old, passing := 0, 0
	for _, c := range cells {
		if c.Outcome == Passes {
			passing++
			old += len(c.age()) / len("†")
		}
		if c.Commit != "" {
			commits = append(commits, c.Commit)
		}
	}
	slices.Sort(commits)
	fmt.Fprintf(&b, "\n%d of %d passing cells were run with the controller and the scenario as they are now. "+
		"The runs were made on these commits, see results.json: %s.\n", passing-old, passing,
		strings.Join(slices.Compact(commits), ", "))
	return b.String()
}

// group writes a line for each different text of a row, with the variants in the place of its %s.
func group(b *strings.Builder, row []cell, text func(cell) string) {
	variants := map[string][]string{}
	var order []string
	for _, c := range row {
		if s := text(c); s != "" {
			if variants[s] == nil {
				order = append(order, s)
			}
			variants[s] = append(variants[s], c.Variant)
		}
	}
	for _, s := range order {
		b.WriteString(strings.Replace(s, "%s", strings.Join(variants[s], ", "), 1))
	}
}

// constant is the documentation of a variant.
type constant struct{ link, text string }

// constants reads the constants of the type Variant in a directory, by value.
func constants(dir string) (map[string]constant, error) {
	out := map[string]constant{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || fmt.Sprint(spec.Type) != "Variant" || len(spec.Values) != 1 {
				return true
			}
			value, ok := spec.Values[0].(*ast.BasicLit)
			if !ok {
				return true
			}
			text := strings.TrimPrefix(strings.Join(strings.Fields(spec.Doc.Text()), " "), spec.Names[0].Name+" ")
			link := fmt.Sprintf("%s#L%d", filepath.ToSlash(path), fset.Position(spec.Pos()).Line)
			out[strings.Trim(value.Value, `"`)] = constant{link, text}
			return true
		})
	}
	return out, nil
}
