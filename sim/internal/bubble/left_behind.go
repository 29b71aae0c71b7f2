package bubble

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

// endless are the functions of controller-runtime whose goroutines wait for a cache to sync,
// without a context. The manager's own caches end that wait when an incarnation is over. A cache
// that a program makes itself cannot.
var endless = []string{
	"sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformer",
	"sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformerHandlerRegistration",
}

// LeftBehind says which goroutines a bubble has left behind.
type LeftBehind struct {
	why    any
	places map[string]int // how many goroutines there are, by where they stand and what began them
}

// Error implements error.
func (l *LeftBehind) Error() string {
	named := l.Places()
	for i, p := range named {
		if n := l.places[p]; n > 1 {
			named[i] = fmt.Sprintf("%d in %s", n, p)
		}
	}
	if n := len(named); n > 3 {
		named = append(named[:3], fmt.Sprintf("and %d more", n-3))
	}
	// Two runs that leave different goroutines behind fail alike: what differs comes after the
	// first line.
	return fmt.Sprintf("sim: goroutines were left behind when the run ended (%v)\n%s\n"+
		"End them when the context given to the process is done, or give "+
		"w.Start sim.IgnoreGoroutines and the function that starts them, if they cannot be ended.",
		l.why, strings.Join(named, "\n"))
}

// Places are where the goroutines stand, and what began them, sorted. There are none in nil.
func (l *LeftBehind) Places() []string {
	if l == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(l.places))
}

// Only leaves out the goroutines in other places.
func (l *LeftBehind) Only(places []string) *LeftBehind {
	maps.DeleteFunc(l.places, func(p string, _ int) bool { return !slices.Contains(places, p) })
	return l
}

// Except leaves out the goroutines that ignored functions have begun. It returns nil if there are
// no others.
func (l *LeftBehind) Except(ignored []string) error {
	ignored = append(slices.Clone(ignored), endless...)
	if l.places = leftBehind(ignored); len(l.places) == 0 {
		return nil
	}
	return l
}

// inBubble is the first line of a goroutine that belongs to a bubble, as the runtime prints it.
var inBubble = regexp.MustCompile(`^goroutine \d+ \[[^\]]*synctest bubble (\d+)`)

// leftBehind counts the goroutines of the latest bubble by where they stand, without those that
// ignored functions began.
func leftBehind(ignored []string) map[string]int {
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
		generic := strings.TrimSuffix(by, "[...]")
		if bubble == latest && !slices.Contains(ignored, by) && !slices.Contains(ignored, generic) {
			places[in+", begun by "+cmp.Or(by, "the runtime")]++
		}
	}
	return places
}

// waits matches functions of standard packages in which a goroutine only waits.
var waits = regexp.MustCompile(`^(sync\.|time\.|internal/)`)

// place is the function in which a goroutine stands, and the function that began it. Functions of
// standard packages that only wait are skipped.
func place(stack string) (in, by string) {
	for line := range strings.Lines(stack) {
		line = strings.TrimSuffix(line, "\n")
		name, began := strings.CutPrefix(line, "created by ")
		switch {
		case strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "goroutine "):
		case began:
			by, _, _ = strings.Cut(name, " in goroutine ")
		case in == "" && !waits.MatchString(line):
			in = line[:max(strings.LastIndex(line, "("), 0)]
		}
	}
	return in, by
}
