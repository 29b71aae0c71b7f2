// This file exists for goroutines that outlive their process: which they are, and which of them may.

package sim

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// IgnoreGoroutines lets the goroutines live on that these functions have begun, which otherwise fail the run as left behind: some
// libraries begin one in a constructor that nobody can end, as the process always ends before it matters. A function is named by
// its package and name, as the failure does, for example github.com/hashicorp/golang-lru/v2/expirable.NewLRU. What such
// a goroutine holds is held until the test binary ends.
func IgnoreGoroutines(begunBy ...string) ProcessOption {
	return func(p *processOptions) { p.ignored = append(p.ignored, begunBy...) }
}

// endless are the functions of controller-runtime whose goroutines wait for a cache to sync, without a context. The manager's
// own caches end that wait when an incarnation is over. A cache that a program makes itself cannot be told to.
var endless = []string{
	"sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformer",
	"sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformerHandlerRegistration",
}

// errLeft says which goroutines a run has left behind.
type errLeft struct {
	why    any
	places []string
}

// Error implements error.
func (e *errLeft) Error() string {
	named := e.places
	if n := len(named); n > 3 {
		named = append(slices.Clone(named[:3]), fmt.Sprintf("and %d more", n-3))
	}
	// Runs that leave more of them behind fail of the same: what differs comes after the first line.
	return fmt.Sprintf("sim: goroutines were left behind when the run ended (%v)\n%s\nEnd them when the context given to the process is done, or give "+
		"w.Start sim.IgnoreGoroutines and the function that begins them, if nobody can.", e.why, strings.Join(named, "\n"))
}

// but is the error for what is left but for the goroutines that ignored functions have begun; nil if there are no others.
func (e *errLeft) but(ignored []string) error {
	ignored = append(slices.Clone(ignored), endless...)
	if e.places = leftBehind(ignored); len(e.places) == 0 {
		return nil
	}
	return e
}

// inBubble is the first line of a goroutine that belongs to a bubble, as the runtime prints it.
var inBubble = regexp.MustCompile(`^goroutine \d+ \[[^\]]*synctest bubble (\d+)`)

// leftBehind are the places where the goroutines of the latest bubble stand, but for those that ignored functions began. They
// are sorted, as the runtime's order differs from run to run.
func leftBehind(ignored []string) []string {
	stacks := make([]byte, 1<<20)
	for runtime.Stack(stacks, true) == len(stacks) {
		stacks = make([]byte, 2*len(stacks))
	}
	latest, places := 0, map[string]int{}
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		m := inBubble.FindStringSubmatch(stack)
		if m == nil {
			continue
		}
		bubble, _ := strconv.Atoi(m[1])
		if bubble > latest {
			latest, places = bubble, map[string]int{}
		}
		in, by := place(stack)
		if bubble == latest && !slices.ContainsFunc(ignored, func(f string) bool { return by == f || strings.TrimSuffix(by, "[...]") == f }) {
			places[in+", begun by "+cmp.Or(by, "nobody")]++
		}
	}
	var out []string
	for _, p := range slices.Sorted(maps.Keys(places)) {
		if n := places[p]; n > 1 {
			p = fmt.Sprintf("%d in %s", n, p)
		}
		out = append(out, p)
	}
	return out
}

// place is the function in which a goroutine stands, within no standard package that only waits, and the one that began it.
func place(stack string) (in, by string) {
	for line := range strings.Lines(stack) {
		line = strings.TrimSuffix(line, "\n")
		name, began := strings.CutPrefix(line, "created by ")
		switch waits := strings.HasPrefix(line, "sync.") || strings.HasPrefix(line, "time.") || strings.HasPrefix(line, "internal/"); {
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "goroutine "):
		case began:
			by, _, _ = strings.Cut(name, " in goroutine ")
		case in == "" && !waits:
			in = line[:max(strings.LastIndex(line, "("), 0)]
		}
	}
	return in, by
}
