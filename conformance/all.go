package conformance

// The table itself. Most rows are scripts, in rows/*.txtar: a section is a row, its name begins
// with the area, and its first lines may be these:
//
//	each: a b c        one row for each word, in whose name and steps $each is the word
//	differs: reason    see [Row.Differs]
//	refused: reason    see [Row.Refused]
//	managed            see [Row.Managed]
//	settle: 40ms       a step SETTLE after every other step
//	in Go              the steps are a function in rows_*.go
//
// An indented line continues the line before it, and a line that begins with # is a comment.

import (
	"embed"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

//go:embed rows
var rowFiles embed.FS

// Rows are all rows of the table, with the areas in the order in which they are best read.
func Rows() []Row {
	return slices.Concat(scripts("discovery"), discoveryRows(),
		scripts("read", "watch", "create", "update", "patch", "delete", "metadata", "subresources", "binding",
			"evictions", "quotas", "options", "builtins", "custom", "apply", "schema", "rbac", "admission",
			"webhook_results", "clients", "namespace", "ownership"))
}

// scripts reads the rows of files.
func scripts(files ...string) []Row {
	var rows []Row
	for _, file := range files {
		for _, section := range sections(file) {
			words, lines := []string{""}, joined(section.Data)
			if each, ok := strings.CutPrefix(lines[0], "each: "); ok {
				words, lines = strings.Fields(each), lines[1:]
			}
			for _, word := range words {
				rows = append(rows, script(strings.ReplaceAll(section.Name, "$each", word),
					strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), "$each", word), "\n")))
			}
		}
	}
	return rows
}

// script makes a row of the lines of its section.
func script(title string, lines []string) Row {
	var r Row
	r.Area, r.Name, _ = strings.Cut(title, ": ")
	settle := ""
	for ; ; lines = lines[1:] {
		key, value, _ := strings.Cut(lines[0], ": ")
		switch key {
		case "differs":
			r.Differs = strings.Join(named(value), "\n")
		case "refused":
			r.Differs, r.Refused = strings.Join(named(value), "\n"), true
		case "managed":
			r.Managed = true
		case "settle":
			settle = "SETTLE " + value
		case "in Go":
			for _, rows := range []map[string]func(*T){rowsDiscovery, rowsClients, rowsSingle} {
				if run := rows[title]; run != nil {
					r.Run = run
				}
			}
			return r
		default:
			r.Run = func(t *T) {
				for _, step := range named(lines...) {
					t.Script(step, settle)
				}
			}
			return r
		}
	}
}

// sections reads a file of rows/.
func sections(file string) []txtar.File {
	data, err := rowFiles.ReadFile("rows/" + file + ".txtar")
	if err != nil {
		panic("conformance: " + err.Error())
	}
	return txtar.Parse(data).Files
}

// joined are the lines of a section, without comments, and with those that continue others at their
// end.
func joined(section []byte) []string {
	var lines []string
	for line := range strings.Lines(string(section)) {
		switch words := strings.TrimSpace(line); {
		case words == "" || line[0] == '#':
		case line[0] == ' ':
			lines[len(lines)-1] += " " + words
		default:
			lines = append(lines, words)
		}
	}
	return lines
}

// names are the texts of rows/names.txtar.
var names = func() map[string]string {
	texts := map[string]string{}
	for _, section := range sections("names") {
		texts[section.Name] = strings.Join(joined(section.Data), "\n")
	}
	return texts
}()

var nameReference = regexp.MustCompile(`\$(minimal\(\w+\)|[a-z]\w*)`)

// named replaces references to names, whose texts may be several lines.
func named(lines ...string) []string {
	text := nameReference.ReplaceAllStringFunc(strings.Join(lines, "\n"), func(reference string) string {
		text, ok := names[reference[1:]]
		if !ok && !strings.HasPrefix(reference, "$minimal") {
			return reference
		}
		return strings.Join(named(text), "\n")
	})
	return strings.Split(text, "\n")
}
