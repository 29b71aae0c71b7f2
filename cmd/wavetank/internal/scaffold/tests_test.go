package scaffold_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// TestTests writes the tests of the projects in testdata/tests. A project is an archive. A line
// "also: name" in its comment adds the files of testdata/name.txtar, and "process: 2" has only the
// test of the second process looked at. What the tests and the notes must have is in the file want,
// a paragraph each, without regard to white space. What they must not have is in unwanted. The file
// processes names all processes.
func TestTests(t *testing.T) {
	paths, err := filepath.Glob("testdata/tests/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, len(paths))
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			files, settings := projectFiles(t, path)
			p, err := scaffold.Read(project(t, files))
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			said := folded(strings.Join(p.Notes, "\n"))
			for i, process := range p.Processes {
				names = append(names, process.Name)
				switch text := folded(source(t, p, process, "mail.example")); settings["process"] {
				case "":
					said += "\n" + text
				case strconv.Itoa(i + 1):
					said = text
				}
			}
			if want, ok := files["processes"]; ok && folded(want) != strings.Join(names, " ") {
				t.Errorf("the processes are %q, want %s", names, want)
			}
			for _, file := range []string{"want", "unwanted"} {
				for part := range strings.SplitSeq(files[file], "\n\n") {
					if part = folded(part); part != "" && strings.Contains(said, part) != (file == "want") {
						t.Errorf("%s:\n%s\nThe tests and notes are\n%s", file, part, said)
					}
				}
			}
		})
	}
}

// projectFiles are the files of an archive and of those that it names, by name, and the settings of
// its comment.
func projectFiles(t *testing.T, path string) (files, settings map[string]string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files, settings = map[string]string{}, map[string]string{}
	for line := range strings.Lines(string(archive.Comment)) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			settings[key] = value
		}
	}
	if also := settings["also"]; also != "" {
		files, _ = projectFiles(t, filepath.Join("testdata", also+".txtar"))
	}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	return files, settings
}

// source is the test of a process.
func source(t *testing.T, p *scaffold.Project, process *scaffold.Process, hosts ...string) string {
	t.Helper()
	test, err := p.Test(process, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return string(test.Source)
}

// folded is a text on one line.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }
