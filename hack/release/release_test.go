package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func TestMain(m *testing.M) {
	checkout = root
	os.Exit(m.Run())
}

// Exported names that have changed since a release must be named in the newest entry of the
// changelog.
func TestChangedNames(t *testing.T) {
	dir := t.TempDir()
	commit := func(source string) {
		t.Helper()
		write(t, filepath.Join(dir, "p"), "p.go", "package p\n\n"+source)
		for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit",
			"-m", "a"}} {
			if _, err := git(dir, args...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := git(dir, "init"); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "go.mod", "module example.com/m\n\ngo 1.26\n")
	if err := os.Mkdir(filepath.Join(dir, "p"), 0o777); err != nil {
		t.Fatal(err)
	}
	commit("type World struct{}\n\nfunc (w *World) Old() {}\n\nfunc Check() {}\n\nfunc Same() {}\n")
	if names, err := changedNames(dir, "example.com/m"); err != nil || len(names) > 0 {
		t.Errorf("%v have changed before the first release (%v)", names, err)
	}
	if _, err := git(dir, "tag", "v0.1.0"); err != nil {
		t.Fatal(err)
	}
	commit("type World struct{}\n\nfunc Check(n int) {}\n\nfunc Same() {}\n\nvar Fresh = 1\n")
	names, err := changedNames(dir, "example.com/m")
	if err != nil || !slices.Equal(names, []string{"Check", "Fresh", "Old"}) {
		t.Errorf("%v have changed (%v)", names, err)
	}
	const changelog = "# Changelog\n\n## 0.2.0\n\n- `Check` has an argument.\n\n## 0.1.0\n\n- `Old`, `Fresh`.\n"
	if got := unnamed(names, changelog); !slices.Equal(got, []string{"Fresh", "Old"}) {
		t.Errorf("%v are not named", got)
	}
}

// The modules require one another at the version that is released next, and at no other.
func TestModulesAgree(t *testing.T) {
	if err := modulesAgree(root, "v0.1.0"); err != nil {
		t.Error(err)
	}
	if err := modulesAgree(root, "v0.2.0"); err == nil || !strings.Contains(err.Error(), "it must be v0.2.0") {
		t.Error(err)
	}
}

// An entry of the changelog has a date and says what becomes of seeds and stories.
func TestInChangelog(t *testing.T) {
	dir := t.TempDir()
	for entry, want := range map[string]string{
		"## 0.1.0 (unreleased)\n": `"0.1.0 (year-month-day)"`,
		"## 0.1.0 (2026-12-01)\n": "no section Determinism",
		"## 0.1.0 (2026-12-01)\n\n### Determinism\n\n## 0.0.9 (unreleased)\n": "",
	} {
		write(t, dir, "CHANGELOG.md", "# Changelog\n\n"+entry)
		err := inChangelog(dir, "v0.1.0")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", entry, err)
		}
	}
}

// Everything that is missing is said at once, and nothing is released that is no version.
func TestCheckOfANumber(t *testing.T) {
	if err := check(root, "0.1", os.Stdout); err == nil || !strings.Contains(err.Error(), "write VERSION=v0.1.0") {
		t.Error(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
