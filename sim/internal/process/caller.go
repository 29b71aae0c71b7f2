package process

import (
	"cmp"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file finds the operator's line for what libraries do, often on goroutines of their own.

// Caller is the operator's line, as file:line, for what the calling goroutine does. For a goroutine
// that a library has started it is the line that waits for the library.
func Caller() string {
	at, _ := caller()
	return at
}

// caller is [Caller], and reports whether net/http's transport does it for that line.
func caller() (at string, byHTTP bool) {
	stacks := make([]byte, 1<<20)
	for runtime.Stack(stacks, true) == len(stacks) {
		stacks = make([]byte, 2*len(stacks))
	}
	all := string(stacks[:runtime.Stack(stacks, true)])
	mine, _, _ := strings.Cut(all, "\n\n") // the calling goroutine comes first
	return callerIn(mine, all)
}

var creator = regexp.MustCompile(`\ncreated by .* in goroutine (\d+)\n`)

// CallerIn returns the operator's line for one goroutine in a dump of all.
func CallerIn(goroutine, all string) string {
	at, _ := callerIn(goroutine, all)
	return at
}

func callerIn(goroutine, all string) (at string, byHTTP bool) {
	library := ""
	for range 16 { // goroutines that begin goroutines
		byHTTP = byHTTP || strings.Contains(goroutine, httpTransport)
		for _, f := range framesOf(goroutine) {
			switch {
			case f.Standard() || f.Harness():
			case !f.Dependency():
				return f.site, byHTTP
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
	return cmp.Or(library, "an unknown line"), byHTTP
}

// httpTransport begins the names of the methods of the transport that HTTP clients have. Clients of
// other protocols, such as gRPC, SQL and SPDY, dial without it.
const httpTransport = "net/http.(*Transport)."

// frame is one call in the dump of a goroutine.
type frame struct {
	wire.Frame
	site string
}

func framesOf(goroutine string) (out []frame) {
	lines := strings.Split(goroutine, "\n")
	for i := 1; i+1 < len(lines); i += 2 {
		function, _, _ := strings.Cut(strings.TrimPrefix(lines[i], "created by "), " in goroutine ")
		place, _, _ := strings.Cut(strings.TrimSpace(lines[i+1]), " ")
		file, _, _ := strings.Cut(place, ".go:")
		out = append(out, frame{wire.Frame{Function: function, File: file}, filepath.Base(place)})
	}
	return out
}
