package process

import (
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
)

// This file finds the operator's line for what libraries do, often on goroutines of their own.

// Caller is the operator's line, as file:line, for what the calling goroutine does. For a goroutine
// that a library has started it is the line that waits for the library.
func Caller() string {
	stacks := make([]byte, 1<<20)
	for runtime.Stack(stacks, true) == len(stacks) {
		stacks = make([]byte, 2*len(stacks))
	}
	all := string(stacks[:runtime.Stack(stacks, true)])
	mine, _, _ := strings.Cut(all, "\n\n") // the calling goroutine comes first
	return CallerIn(mine, all)
}

var creator = regexp.MustCompile(`\ncreated by .* in goroutine (\d+)\n`)

// CallerIn returns the operator's line for one goroutine in a dump of all.
func CallerIn(goroutine, all string) string {
	library := ""
	for range 16 { // goroutines that begin goroutines
		for _, f := range framesOf(goroutine) {
			switch {
			case f.standard() || f.harness():
			case !f.dependency():
				return f.site
			case library == "":
				library = f.site
			}
		}
		m := creator.FindStringSubmatch(goroutine + "\n")
		if m == nil {
			break
		}
		_, rest, found := strings.Cut("\n\n"+all, "\n\ngoroutine "+m[1]+" [")
		if !found {
			break
		}
		goroutine, _, _ = strings.Cut("goroutine "+m[1]+" ["+rest, "\n\n")
	}
	if library == "" {
		return "an unknown line"
	}
	return library
}

// frame is one call in the dump of a goroutine.
type frame struct{ function, file, site string }

func framesOf(goroutine string) (out []frame) {
	lines := strings.Split(goroutine, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function, _, _ := strings.Cut(strings.TrimPrefix(lines[i], "created by "), " in goroutine ")
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		file, _, _ := strings.Cut(place, ".go:")
		out = append(out, frame{function, file, filepath.Base(place)})
	}
	return out
}

// standard says whether the frame is of the standard library. Its packages have no dot in the first
// element of their path. Neither have those of some modules, so the file decides where paths are
// whole.
func (f frame) standard() bool {
	if root := rootOfStandard(); root != "" {
		return strings.HasPrefix(f.file, root)
	}
	first, _, _ := strings.Cut(f.file, "/")
	return !strings.Contains(first, ".")
}

// rootOfStandard is where the sources of the standard library were when the binary was built; "" if
// the binary does not say.
func rootOfStandard() string {
	const file = "strings/builder.go"
	pc := reflect.ValueOf((*strings.Builder).Reset).Pointer()
	path, _ := runtime.FuncForPC(pc).FileLine(pc)
	root, _ := strings.CutSuffix(filepath.ToSlash(path), file)
	return root
}

// harness says whether the frame is Wavetank's.
func (f frame) harness() bool {
	const sim = "github.com/wavetank/wavetank/sim"
	return strings.HasPrefix(f.function, sim+".") || strings.HasPrefix(f.function, sim+"/internal/")
}

// dependency says whether the frame is of a module other than the one under test.
func (f frame) dependency() bool {
	return strings.Contains(f.file, "@v") || strings.Contains(f.file, "/vendor/")
}
