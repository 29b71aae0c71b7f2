package apiserver

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// Watch is the stream of one watch request: a cursor over the history of one type. Its owner
// decides when it advances, so a slow, lagging, dropped or expired watch is only a cursor that is
// advanced late, or no more.
type Watch struct {
	s       *Server
	kind    *object.Type
	view    object.View
	query   *listQuery
	timeout time.Duration

	// initial are the objects of the state that the watch starts from, still to be sent, and mark
	// says that a bookmark closes them.
	initial []*object.Object
	mark    bool
	// started is the revision of that state. position is the place in the table's history of the
	// next change to look at. Everything up to the revision reached has been delivered.
	started  int64
	position int
	reached  int64
	expired  bool
	closed   bool
	// refused is why there is no watch at all: the only thing that the client hears.
	refused error
}

// start places the cursor. Without a version, and for a watch-list, the stream begins with the
// current state, or with the one as of a revision.
func (w *Watch) start(from, asOf int64) {
	current, table := w.s.Revision(), w.table()
	initial := w.query.SendInitialEvents != nil && *w.query.SendInitialEvents
	if initial || from == 0 {
		if from > current {
			// A watch that has been authorised fails in its stream (storage/cacher/cacher.go,
			// newErrWatcher).
			w.refused = tooLargeRevision(from, current)
			return
		}
		w.started, w.reached, w.position = current, current, table.End()
		if !initial && w.query.SendInitialEvents != nil {
			return
		}
		if asOf > 0 && asOf < current {
			w.startAsOf(asOf)
			w.mark = initial && w.query.AllowWatchBookmarks
			return
		}
		for _, o := range table.Range(w.query.Prefix, "") {
			if w.query.Selector.Matches(o) {
				w.initial = append(w.initial, o)
			}
		}
		w.mark = initial && w.query.AllowWatchBookmarks
		return
	}
	w.started, w.reached = from, from
	w.expired = from < w.s.store.Compacted() || table.Lost(w.query.Prefix, from)
	w.position = table.After(from)
}

// startAsOf places the cursor of a watch that begins with the state that the request's cache has.
func (w *Watch) startAsOf(revision int64) {
	w.started, w.reached, w.position = revision, revision, w.table().After(revision)
	for _, item := range w.table().At(revision, w.query.Prefix, "") {
		if w.query.Selector.Matches(item.Value) {
			w.initial = append(w.initial, item.Value)
		}
	}
}

func (w *Watch) table() *store.Table[*object.Object] { return w.s.table(w.kind) }

// Timeout is how long the client wants the watch to last; 0 when it did not say.
func (w *Watch) Timeout() time.Duration { return w.timeout }

// Close ends the watch: nothing more is delivered.
func (w *Watch) Close() { w.closed = true }

// Next returns the next frame and advances; false means that the watch has seen everything there is
// now. After an ERROR frame there is nothing more.
func (w *Watch) Next() (Frame, bool) { return w.frame(true) }

// Peek is Next without advancing.
func (w *Watch) Peek() (Frame, bool) { return w.frame(false) }

func (w *Watch) frame(advance bool) (Frame, bool) {
	if w.closed {
		return Frame{}, false
	}
	if w.refused != nil {
		w.closed = advance
		return w.errorFrame(w.refused), true
	}
	if w.expired {
		w.closed = advance
		return w.Expired(), true
	}
	if len(w.initial) > 0 {
		o := w.initial[0]
		if advance {
			w.initial = w.initial[1:]
		}
		f := w.frameOf("ADDED", o)
		f.Initial = true
		return f, true
	}
	if w.mark {
		w.mark = !advance
		f := w.bookmark(w.started, true)
		f.Initial = true
		return f, true
	}
	return w.change(advance)
}

// change looks for the next change that concerns the watch. Changes that do not are passed over for
// good.
func (w *Watch) change(advance bool) (Frame, bool) {
	for {
		e, lost := w.table().Event(w.position)
		if lost && !w.table().Lost(w.query.Prefix, w.reached) {
			w.position = w.table().First()
			continue
		}
		if lost {
			w.expired = true
			return w.frame(advance)
		}
		if e == nil {
			return Frame{}, false
		}
		kind, o := w.query.sees(e)
		if kind == "" || advance {
			w.position++
			w.reached = e.Revision
		}
		if kind != "" {
			return w.frameOf(kind, o), true
		}
	}
}

// sees returns what a watcher with this selector gets of a change: an object that begins to match
// is added, one that no longer matches is deleted in its last matching state
// (staging/src/k8s.io/apiserver/pkg/storage/cacher/cache_watcher.go).
func (l *listQuery) sees(e *store.Event[*object.Object]) (string, *object.Object) {
	if !strings.HasPrefix(e.Key, l.Prefix) {
		return "", nil
	}
	now := e.Op != store.Deleted && l.Selector.Matches(e.Value)
	before := e.Op != store.Added && l.Selector.Matches(e.Previous)
	switch {
	case now && before:
		return "MODIFIED", e.Value
	case now:
		return "ADDED", e.Value
	case !before:
		return "", nil
	case e.Op == store.Deleted:
		return "DELETED", e.Value
	}
	return "DELETED", e.Value.Leaving(e.Previous)
}

func (w *Watch) frameOf(kind string, o *object.Object) Frame {
	return Frame{
		Type:      kind,
		Revision:  o.Revision,
		Namespace: o.Meta.Namespace,
		Name:      o.Meta.Name,
		Object:    o.As(w.view).JSON,
		Data:      o.Frame(kind, w.view),
	}
}

// Behind is the number of frames and changes between the watch and the present; 0 means that Next
// has nothing. Changes that the selector will pass over are counted until they are looked at.
func (w *Watch) Behind() int {
	if w.closed || w.refused != nil {
		return 0
	}
	n := len(w.initial) + w.table().End() - w.position
	if w.mark {
		n++
	}
	return n
}

// Revision is the revision up to which the watch has delivered everything.
func (w *Watch) Revision() int64 { return w.reached }

// Bookmark makes a bookmark frame at the revision up to which everything has been delivered: the
// current one when the watch is not behind. It is false when the client did not ask for bookmarks
// or is still receiving its initial events.
func (w *Watch) Bookmark() (Frame, bool) {
	if w.closed || w.expired || w.refused != nil || !w.query.AllowWatchBookmarks || len(w.initial) > 0 || w.mark {
		return Frame{}, false
	}
	e, lost := w.table().Event(w.position)
	switch {
	case lost:
		return Frame{}, false
	case e == nil:
		w.reached = w.s.Revision()
	default:
		w.reached = max(w.reached, e.Revision-1)
	}
	return w.bookmark(w.reached, false), true
}

// bookmark is an otherwise empty object of the watched type that carries a revision.
func (w *Watch) bookmark(revision int64, endOfInitial bool) Frame {
	b := append([]byte(nil), `{"type":"BOOKMARK","object":`...)
	if w.view.Partial {
		b = append(b, object.PartialPrefix...)
	} else {
		b = append(b, w.view.Version.Prefix...)
	}
	b = strconv.AppendInt(append(b, `"metadata":{"resourceVersion":"`...), revision, 10)
	b = append(b, '"')
	if endOfInitial {
		b = append(b, `,"annotations":{"`+metav1.InitialEventsAnnotationKey+`":"true"}`...)
	}
	b = append(b, '}')
	if !w.view.Partial && w.view.Version.New != nil {
		b = append(b, emptyRest(w.view.Version.New())...)
	}
	return Frame{Type: "BOOKMARK", Revision: revision, Data: append(b, "}}\n"...)}
}

// emptyRest is what an empty built-in object shows in addition to its metadata. A real server
// converts the bookmark from its internal type, in which the replicas of a workload are a number
// and not a pointer.
func emptyRest(o runtime.Object) []byte {
	if spec := object.Part(o, "Spec"); spec.IsValid() {
		if f := spec.FieldByName("Replicas"); f.IsValid() && spec.FieldByName("Selector").Kind() == reflect.Pointer {
			f.Set(reflect.New(f.Type().Elem()))
		}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(object.Marshal(o), &fields); err != nil {
		panic("apiserver: " + err.Error())
	}
	var out []byte
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == "metadata" || name == "kind" || name == "apiVersion" {
			continue
		}
		out = append(append(out, `,"`+name+`":`...), fields[name]...)
	}
	return out
}

// Expired is the frame that ends a watch whose place in history has been forgotten: 410 Gone.
func (w *Watch) Expired() Frame {
	return w.errorFrame(apierrors.NewResourceExpired("too old resource version: " +
		strconv.FormatInt(w.reached, 10) + " (" + strconv.FormatInt(w.s.store.Compacted(), 10) + ")"))
}

// Expire makes the next frame the last: the server has forgotten the watch's place in history, 410
// Gone.
func (w *Watch) Expire() { w.expired = true }

func (w *Watch) errorFrame(err error) Frame {
	b := append([]byte(nil), `{"type":"ERROR","object":`...)
	b = append(b, object.Marshal(statusOf(err))...)
	return Frame{Type: "ERROR", Revision: w.reached, Data: append(b, '}', '\n')}
}

// listQuery are the options of a list, a watch or a deletion of a collection, checked.
type listQuery struct {
	metav1.ListOptions
	object.Selector
}
