package process

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/sim/internal/wire"
)

// This file finds the operator's line for which an informer lists and watches a kind. Informers
// send their requests on goroutines of their own.

// readers are the lines of one process that have kinds read. Only a process with an account is
// asked for them; the others have none.
type readers struct {
	mu     sync.Mutex
	reads  map[string]string // the first line that read a kind from a cache
	setups []wire.Place      // lines that add something to a manager
}

// noteRead notes the line that reads objects from a cache.
func (r *readers) noteRead(o any) {
	if r == nil {
		return
	}
	kind := kindName(o)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.reads[kind]; ok {
		return
	}
	if r.reads == nil {
		r.reads = map[string]string{}
	}
	if line := wire.Source(); line != "" {
		r.reads[kind] = line
	}
}

// kindName is the kind of an object, or of the objects of a list. Those without a kind of their own
// have the name of their Go type.
func kindName(o any) string {
	if object, ok := o.(runtime.Object); ok {
		if kind := object.GetObjectKind().GroupVersionKind().Kind; kind != "" {
			return strings.TrimSuffix(kind, "List")
		}
	}
	t := reflect.TypeOf(o)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return strings.TrimSuffix(t.Name(), "List")
}

// noteSetup notes the line that adds something to a manager.
func (r *readers) noteSetup() {
	if r == nil {
		return
	}
	at, ok := wire.SourcePlace()
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok && !slices.Contains(r.setups, at) {
		r.setups = append(r.setups, at)
	}
}

// of is [Process.ReaderOf].
func (r *readers) of(kind string) string {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, at := range r.setups {
		if line := watchIn(at, kind); line != "" {
			return line
		}
	}
	if line := r.reads[kind]; line != "" {
		return line
	}
	if len(r.setups) > 0 {
		return r.setups[0].String()
	}
	return ""
}

// watchIn finds the line at which a builder is given a kind, in the function that ends with a call
// at a place; "" if there is none, or if the source is not there.
func watchIn(at wire.Place, kind string) string {
	text, err := os.ReadFile(at.File)
	if err != nil {
		return ""
	}
	given := regexp.MustCompile(`\.(For|Owns|Watches|WatchesMetadata|WatchesRawSource)\(.*\b` + kind + `\{`)
	lines := strings.Split(string(text), "\n")
	for n := min(at.Line, len(lines)); n > 0 && !strings.HasPrefix(lines[n-1], "func "); n-- {
		if given.MatchString(lines[n-1]) {
			at.Line = n
			return at.String()
		}
	}
	return ""
}
