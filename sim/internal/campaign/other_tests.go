package campaign

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/host"
	"github.com/wavetank/wavetank/sim/internal/shell"
)

// elsewhere says how to see a story of another test. The command in the file names the path that it
// had first, and runs no test, without a failure, where the test has got another name.
func elsewhere(path string, s *story.Story, pkg, test string) string {
	if s.Package == pkg {
		name, _, _ := strings.Cut(testOf(s.Test), "/")
		if strings.HasPrefix(s.Replay, "go test ") && !strings.Contains(s.Replay, "-ginkgo.") && !isTestHere(name) {
			return fmt.Sprintf("no %s is written here any more; if this test is its successor, "+
				"write \"test: %s\" in the file, or move it to %s",
				name, test, filepath.ToSlash(storyDir(test)))
		}
	} else if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	const arg = " -sim.replay="
	command := s.Replay
	if before, after, ok := strings.Cut(command, arg); ok {
		_, rest, more := strings.Cut(after, " -") // what was quoted may hold blanks
		command = before + arg + shell.Word(filepath.ToSlash(path))
		if more {
			command += " -" + rest
		}
	}
	return "replay it with\n    " + command
}

// isTestHere reports whether the package of the test, in whose directory go test runs it, declares
// a test function; true if that is unknown.
func isTestHere(name string) bool {
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(files) == 0 {
		return true
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || strings.Contains(string(text), "func "+name+"(") {
			return true
		}
	}
	return false
}

// related reports whether go test cannot run one of two tests without the other: they are one, or
// one is the other's subtest.
func related(a, b string) bool {
	return strings.HasPrefix(a+"/", b+"/") || strings.HasPrefix(b+"/", a+"/")
}

// alsoChosen reports whether the focus in a story's command chooses a spec as well: Ginkgo matches
// it against the suite's description and the spec's text, and only the end can be told.
func alsoChosen(s *story.Story, spec string) bool {
	return strings.Contains(s.Replay, "-ginkgo.focus=") && strings.HasSuffix(spec, " "+testOf(s.Test))
}

// adopts reports whether a story of another test was moved to this one's, as when a test gets
// another name and its stories are moved with it. A directory may also be that of two tests, whose
// names differ in what paths do not take.
func adopts(path string, s *story.Story, test string, h host.Host) bool {
	mine, errA := filepath.Abs(storyDir(test))
	its, errB := filepath.Abs(storyDir(s.Test))
	dir, errC := filepath.Abs(filepath.Dir(path))
	if errA != nil || errB != nil || errC != nil || dir != mine || strings.EqualFold(its, mine) {
		return false
	}
	h.Logf("sim: %s is a story of %s that lies among those of %s, so it is played; "+
		"write that name after \"test:\" in the file", path, s.Test, test)
	return true
}
