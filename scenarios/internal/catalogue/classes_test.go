package catalogue

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// The page has the classes as they are, and a reviewer has each on one screen.
func TestTheClassesPageIsFresh(t *testing.T) {
	classes, err := ReadClasses(root)
	if err != nil {
		t.Fatal(err)
	}
	page, err := Classes(root, classes)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, "scenarios", "CLASSES.md"), []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(root, "scenarios", "CLASSES.md"))
	if err != nil || !strings.HasPrefix(string(got), classesHead) || !strings.HasSuffix(string(got), indexOf(classes)) {
		t.Errorf("the head or the index of CLASSES.md is stale; run make story-texts (%v)", err)
	}
	others := regexp.MustCompile(`https://github\.com/([^/]+/[^/]+)/(issues|pull)/[0-9]+`)
	for _, c := range classes {
		section, err := c.section(root)
		if err != nil {
			t.Fatal(err)
		}
		gone := len(c.Stories) > 0
		if gone {
			kept, err := readKept(root, c.Stories[0])
			if err != nil {
				t.Fatal(err)
			}
			gone = kept == nil // with its scenario
		}
		if !gone && !strings.Contains(string(got), section) {
			t.Errorf("%s in CLASSES.md is stale; run make story-texts", c.Name)
		}
		if n := strings.Count(section, "\n"); n > 55 {
			t.Errorf("%s has %d lines; 55 fit on a screen", c.Name, n)
		}
		var threads []string
		for _, m := range others.FindAllString(c.Text, -1) {
			if !slices.Contains(threads, m) {
				threads = append(threads, m)
			}
		}
		if len(threads) < 2 {
			t.Errorf("%s names %d public threads; two at least", c.Name, len(threads))
		}
		for _, part := range []string{"\nUsers ", "// faulty", "// fixed", "\nAsk: ", "\nElsewhere: "} {
			if !strings.Contains("\n"+c.Text, part) {
				t.Errorf("%s lacks %q", c.Name, part)
			}
		}
	}
}

// The stories of a class need its faults, and the variant that a class calls fixed passes the case
// of the story that it shows.
func TestClassesShowTheirFaults(t *testing.T) {
	classes, err := ReadClasses(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range classes {
		for i, file := range c.Stories {
			s, err := readKept(root, file)
			if err != nil {
				t.Fatal(err)
			}
			if s == nil {
				continue
			}
			faults := s.FaultClasses()
			ofClass := func(fault string) bool { return slices.Contains(c.Faults, fault) }
			others := slices.DeleteFunc(slices.Clone(faults), ofClass)
			if len(c.Faults) > 0 && (len(others) == len(faults) || i == 0 && len(others) > 0) {
				t.Errorf("%s is about %v, and %s needs %v", c.Name, c.Faults, file, faults)
			}
			if i == 0 && !passes(t, file, s, c.Fixed) {
				t.Errorf("%s: variant %q does not pass the case of %s", c.Name, c.Fixed, file)
			}
		}
	}
}

// passes reports whether a variant passes the case of a story, by the results of its scenario.
func passes(t *testing.T, file string, s *story.Story, variant string) bool {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(packageOf(file)), "results.json"))
	var results struct {
		Results []struct {
			Case, Variant string
			Passed        bool
		}
	}
	if err == nil {
		err = json.Unmarshal(data, &results)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results.Results {
		if part(r.Case) == path.Base(path.Dir(s.Test)) && r.Variant == variant {
			return r.Passed
		}
	}
	return false
}

// Words lead to the classes that a reviewer means.
func TestClassesAreFoundByWord(t *testing.T) {
	classes, err := ReadClasses(root)
	if err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"finalizer": "finalizer-stuck", "leader": "two-leaders", "cache": "stale-read", "back-off": "never-settles",
		"helm": "interrupted-record", "DeepCopy": "cache-mutated", "UID": "namesake",
	} {
		i := slices.IndexFunc(classes, func(c Class) bool { return c.Name == want })
		if i < 0 || !slices.Contains(classes[i].Words, word) {
			t.Errorf("%q does not lead to %s", word, want)
		}
	}
}
