// This file keeps the README true.

package tidy

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Pages show the end of tests, which are run where they are.
func TestPagesShowTests(t *testing.T) {
	for page, of := range map[string]struct{ test, begin string }{
		"README.md":     {"examples/backup/internal/controller/backup_sim_test.go", "func TestOneClaim("},
		"docs/clock.md": {"sim/property/clock_test.go", "func hourlyBackups("},
	} {
		_, example, _ := strings.Cut(read(t, of.test), of.begin)
		if !strings.Contains(read(t, page), "```go\n"+of.begin+example+"```") {
			t.Errorf("%s does not show the test as it is:\n%s", page, of.begin+example)
		}
	}
}

// The README is read in one go.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > 120 {
		t.Errorf("README.md has %d lines; 120 are enough, and docs/ has room", n)
	}
}

// Each message that docs/troubleshooting.md explains is one that the code prints.
func TestTroubleshootingQuotesMessages(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"sim", "internal/story"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				code.WriteString(strings.ReplaceAll(read(t, path), "\" +\n", "")) // in one line
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	said := regexp.MustCompile("\"[ \\t]*\"|[ \\t]+\"").ReplaceAllString(code.String(), "")
	rows := 0
	for line := range strings.Lines(read(t, "docs/troubleshooting.md")) {
		if quoted := strings.Split(line, "`"); strings.HasPrefix(line, "| `") {
			rows++
			if !strings.Contains(code.String(), quoted[1]) && !strings.Contains(said, quoted[1]) {
				t.Errorf("nothing says %q", quoted[1])
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d messages are explained", rows)
	}
}

// Every command and every file that the README names must be there.
func TestReadmeNamesWhatExists(t *testing.T) {
	makefile := "\n"
	for _, path := range []string{"Makefile", "conformance/conformance.mk", "hack/envtest/envtest.mk",
		"reports/reports.mk"} {
		makefile += read(t, path) + "\n"
	}
	for i, line := range strings.Split(read(t, "README.md"), "\n") {
		if strings.HasPrefix(line, "\t") {
			continue // code
		}
		for _, part := range strings.Split(line, "`make ")[1:] {
			target := strings.FieldsFunc(part, func(r rune) bool { return r == '`' || r == ' ' })[0]
			if !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("README.md:%d names make %s, which the Makefile does not have", i+1, target)
			}
		}
		for _, part := range strings.Split(line, "](")[1:] {
			link, _, _ := strings.Cut(part, ")")
			if _, err := os.Stat(link); err != nil && !strings.Contains(link, "://") {
				t.Errorf("README.md:%d links to %s, which is not there", i+1, link)
			}
		}
	}
}

// docs/README.md links to every page of docs.
func TestDocsIndexIsComplete(t *testing.T) {
	index := read(t, "docs/README.md")
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
	for _, part := range strings.Split(index, "](")[1:] {
		link, _, _ := strings.Cut(part, ")")
		if _, err := os.Stat(filepath.Join("docs", link)); err != nil && !strings.Contains(link, "://") {
			t.Errorf("docs/README.md links to %s, which does not exist", link)
		}
	}
}
