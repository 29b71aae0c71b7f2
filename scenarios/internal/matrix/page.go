// This file renders the page of a scenario, README.md, from the table and its results.

package matrix

import (
	"cmp"
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

// legend explains the matrix. Its arguments are the scenario's folder, the fixed variant, and what
// proves a cell. Code is quoted by a tick.
var legend = strings.ReplaceAll(`
## Matrix

✗ fails. It links to a story whose choices make it fail, which may have been found for another case of the
property. ✗° fails on the default schedule, without any choice; some of these link to a story. Each ´go test´
repeats every ✗. – is not run, see the notes.

✓ passes, with the number of runs. They are enough to inject each class of the case's faults %[2]d times into
%[3]s, and %[4]d times into another variant. At least %[5]d runs are made, and at most %[6]d; %[7]d without faults, and
%[8]d of %[3]s under every fault. In parentheses are the classes that were injected less often, with their number;
“…” means that more runs are to follow. ○ passes, but none of the faults that the case lists was injected. † was
run with an older controller or scenario.

´make matrices STORY=%[1]s´ makes the runs that are missing and writes this page from [results.json](results.json).
´go test ./scenarios/%[1]s´ fails when the page is stale, repeats every failure, and runs passing cells again.

`, "´", "`")

// render returns the page of a scenario, whose folder is the working directory.
func (t Table[V]) render(folder string, cells []cell) (string, error) {
	text, err := read()
	if err != nil {
		return "", err
	}
	docs, err := constants("../../controllers/" + folder)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\nThe thread: %s. %s\n\n", folder, text.thread, text.reports)
	b.WriteString("| variant | what it is | fails |\n|---|---|---|\n")
	for i, v := range t.Variants {
		failed, run := 0, 0
		for row := range slices.Chunk(cells, len(t.Variants)) {
			failed += count(row[i].Outcome == Fails)
			run += count(row[i].Outcome != NotRun)
		}
		fmt.Fprintf(&b, "| %s | %d of %d cases |\n", cmp.Or(docs[string(v)], string(v)+" | "+t.About[v]), failed, run)
	}
	promises, _ := t.promises(text, cells) // checkTables reports what is wrong with it
	fmt.Fprintf(&b, "\n%s\n%s", text.shows, promises)
	fmt.Fprintf(&b, legend, folder, ofFixed, t.Fixed, ofOthers, withFaults, maxRuns, withoutFaults, ofEveryFault)
	b.WriteString(t.matrix(cells) + "\n## Notes\n\n" + t.notes(cells))
	if text.tables != "" {
		b.WriteString("\n" + text.tables)
	}
	return b.String(), nil
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// prose is what the page says of the thread and of the runs.
type prose struct{ thread, reports, shows, promises, tables string }

// read reads thread.md, a link, and page.md: a paragraph on what the thread reports, then what the
// runs show, the table of promises, and sections that follow the matrix. See checkTables.
func read() (prose, error) {
	link, err := os.ReadFile("thread.md")
	if err != nil {
		return prose{}, fmt.Errorf("every scenario names the thread that it was made from: %w", err)
	}
	text, err := os.ReadFile("page.md")
	if err != nil {
		return prose{}, fmt.Errorf("every scenario says what its thread reports and what its runs show: %w", err)
	}
	reports, shows, _ := strings.Cut(strings.TrimSpace(string(text)), "\n\n")
	shows, tables, more := strings.Cut(shows, "\n\n## ")
	if more {
		tables = "## " + tables + "\n"
	}
	promises := ""
	if rest, ok := strings.CutPrefix(tables, promisesHead); ok {
		promises, tables, _ = strings.Cut(rest, "\n## ")
		tables = "## " + tables
	}
	return prose{strings.TrimSpace(string(link)), strings.Join(strings.Fields(reports), " "), shows, promises, tables},
		nil
}

const promisesHead = "## Promises under faults\n\n"

// promises renders the table that has a row for each promise and a column for each kind of fault.
// The head of a column lists its classes, and its entries name cases, or give a reason after a
// dash. A case gets the counts of the fixed variant. A case that injects no fault of its column is
// an error.
func (t Table[V]) promises(text prose, cells []cell) (table string, wrong []string) {
	lines := strings.Split(strings.TrimSpace(text.promises), "\n")
	heads := strings.Split(strings.TrimSuffix(lines[0], " |"), " | ")
	for i, line := range lines[min(2, len(lines)):] {
		entries := strings.Split(line, " | ")
		for j := 1; j < len(entries); j++ {
			if strings.HasPrefix(entries[j], "–") {
				continue
			}
			var shown []string
			for name := range strings.SplitSeq(strings.TrimSuffix(entries[j], " |"), "; ") {
				at := slices.IndexFunc(cells, func(k cell) bool {
					return k.Case == name && k.Variant == string(t.Fixed)
				})
				n := 0
				for class, injected := range classes(cells[max(at, 0)].Injected) {
					n += count(strings.Contains(heads[j], class)) * injected
				}
				if at < 0 || n == 0 {
					wrong = append(wrong, fmt.Sprintf("page.md: %q does not inject what %q lists", name, heads[j]))
					continue
				}
				shown = append(shown, fmt.Sprintf("%s: %d in %d", name, n, cells[at].Runs))
			}
			entries[j] = strings.Join(shown, "; ")
		}
		lines[i+2] = strings.TrimSuffix(strings.Join(entries, " | "), " |") + " |"
	}
	if text.promises == "" {
		return "", nil
	}
	return fmt.Sprintf("\n%sThe cases that show each promise of %s under each kind of fault, with the number of "+
		"injections in the number of runs.\n\n%s\n", promisesHead, t.Fixed, strings.Join(lines, "\n")), wrong
}

var (
	testFunction = regexp.MustCompile(`func (Test\w+)\(`)
	shown        = regexp.MustCompile(`(?m)^\| (.*?) \| (.*?) \|( .*)?$`) // a row: what, and by which cells or tests
)

// checkTables checks the tables of page.md. The second column names what shows the first: cases,
// tests of the folder in ticks, or "case: variant mark" with the mark of that cell.
func (t Table[V]) checkTables(cells []cell) []string {
	text, err := read()
	if err != nil {
		return []string{err.Error()}
	}
	_, wrong := t.promises(text, cells)
	names := map[string]bool{"cell": true, "covered by": true} // heads of the tables
	tests, _ := filepath.Glob("*_test.go")                     // the pattern is well-formed
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
	for _, row := range shown.FindAllStringSubmatch(text.tables, -1) {
		for by := range strings.SplitSeq(row[2], "; ") {
			if !names[by] {
				wrong = append(wrong, fmt.Sprintf(
					"page.md: %q is shown by %q, which is no case, test or cell with that mark", row[1], by))
			}
		}
	}
	return wrong
}

// matrix returns a row for each case, grouped by property.
func (t Table[V]) matrix(cells []cell) string {
	var b strings.Builder
	b.WriteString("| property | case |")
	for _, v := range t.Variants {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(t.Variants)+2) + "\n")
	rows := slices.Collect(slices.Chunk(cells, len(t.Variants)))
	first := map[string]int{} // the first case of each property
	for i, c := range t.Cases {
		if _, known := first[c.Property]; !known {
			first[c.Property] = i
		}
	}
	slices.SortStableFunc(rows, func(a, b []cell) int { return first[a[0].Property] - first[b[0].Property] })
	before := ""
	for _, row := range rows {
		title := row[0].Property
		if title == before {
			title = ""
		}
		before = row[0].Property
		fmt.Fprintf(&b, "| %s | %s |", title, row[0].Case)
		for _, c := range row {
			fmt.Fprintf(&b, " %s |", c.mark())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mark is what the matrix shows of a cell.
func (c cell) mark() string {
	mark, few := c.Outcome, c.few()
	if c.Default {
		mark += "°"
	}
	switch {
	case c.Story != "":
		return fmt.Sprintf("[%s](%s/%s)", mark, catalogue, c.Story)
	case c.Outcome != Passes:
		return mark
	}
	injected := 0
	for _, n := range c.Injected {
		injected += n
	}
	if c.Faulted && injected == 0 {
		mark = "○"
	}
	if c.Digest != c.Now {
		return fmt.Sprintf("%s %d†", mark, c.Runs)
	}
	if few != "" {
		few = " (" + few + ")"
	}
	return fmt.Sprintf("%s %d%s", mark, c.Runs, few)
}

// notes returns what the matrix has no place for.
func (t Table[V]) notes(cells []cell) string {
	var notes, never strings.Builder
	for row := range slices.Chunk(cells, len(t.Variants)) {
		group(&notes, row, func(k cell) string {
			switch {
			case k.Note == "":
				return ""
			case k.Outcome == NotRun:
				return fmt.Sprintf("- %s, not run: %%s: %s.\n", k.Case, k.Note)
			}
			return fmt.Sprintf("- %s: %%s: %s.\n", k.Case, k.Note)
		})
		group(&never, row, func(k cell) string {
			if len(k.Never) == 0 {
				return ""
			}
			return fmt.Sprintf("- %s: %%s: %s.\n", k.Case, strings.Join(k.Never, ", "))
		})
	}
	if never.Len() > 0 {
		notes.WriteString("\nThese passed without faults that the case lists, because they never reach the point " +
			"where those are injected:\n\n" + never.String())
	}
	var commits []string
	now, passing, more := 0, 0, 0
	for _, c := range cells {
		now += count(c.Outcome == Passes && c.Digest == c.Now)
		more += count(c.Outcome == Passes && c.Digest == c.Now && c.unproved())
		passing += count(c.Outcome == Passes)
		if c.Commit != "" {
			commits = append(commits, c.Commit)
		}
	}
	slices.Sort(commits)
	fmt.Fprintf(&notes, "\n%d of %d passing cells were run with the controller and the scenario as they are now, "+
		"%d of them in fewer runs than they need. "+
		"The runs were made on these commits, see results.json: %s.\n", now, passing, more,
		strings.Join(slices.Compact(commits), ", "))
	return notes.String()
}

// group writes a line for each different text of a row, with the variants in the place of its %s.
func group(b *strings.Builder, row []cell, text func(cell) string) {
	variants := map[string][]string{}
	var order []string
	for _, c := range row {
		if s := text(c); s != "" {
			variants[s] = append(variants[s], c.Variant)
			order = append(order, s)
		}
	}
	for i, s := range order {
		if slices.Index(order, s) == i {
			b.WriteString(strings.Replace(s, "%s", strings.Join(variants[s], ", "), 1))
		}
	}
}

// constants reads the constants of the type Variant in a directory: by value, a link and the
// documentation as columns of a table.
func constants(dir string) (map[string]string, error) {
	out := map[string]string{}
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
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				v := strings.Trim(value.Value, `"`)
				text := strings.TrimPrefix(strings.Join(strings.Fields(spec.Doc.Text()), " "), spec.Names[0].Name+" ")
				line := fset.Position(spec.Pos()).Line
				out[v] = fmt.Sprintf("[%s](%s#L%d) | %s", v, filepath.ToSlash(path), line, text)
			}
			return true
		})
	}
	return out, nil
}
