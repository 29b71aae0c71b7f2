// This file is about what a reconcile read from its cache.

package reports

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

const maxItems = 3 // objects of a list that a paragraph names

// StaleRead is a read of a cache that had not received a write to what was read.
type StaleRead struct {
	history.Read
	Actor string // incarnation that read
	At    history.Time
}

// StaleReads are such reads in the reconciles that led to the violation, those of the reconcile
// that decided first, and the later ones first. The choices are those of the history's story.
func StaleReads(h *history.History, choices []story.Choice) (out []StaleRead) {
	u := newTracing(h)
	if u.violation < 0 {
		return nil
	}
	u.delay(choices)
	u.trace()
	decided, ok := u.dequeued[u.decision()]
	if ok {
		out = u.staleReads(decided)
	}
	for i := u.violation - 1; i >= 0; i-- {
		if h.Events[i].Kind == history.Dequeue && u.on(i) && (!ok || i != decided) {
			out = append(out, u.staleReads(i)...)
		}
	}
	return out
}

// staleReads are the stale reads of reconcile start before the violation, the last one first.
func (u *unseen) staleReads(start int) (out []StaleRead) {
	e := &u.h.Events[start]
	for _, r := range slices.Backward(u.reads(start, u.violation)) {
		at := u.endOfStep(r.Step)
		if slices.ContainsFunc(u.gapsAt(at, e), func(g gap) bool { return r.Covers(g.ref) }) {
			out = append(out, StaleRead{r, e.Actor(), u.h.Events[at].At})
		}
	}
	return out
}

// reads are what reconcile start read from its cache before it sent request i or before event i.
func (f *finder) reads(start, i int) (out []history.Read) {
	for j := start + 1; j <= i; j++ {
		if of, ok := f.dequeued[j]; ok && of == start {
			out = append(out, f.h.Events[j].Reads...)
		}
	}
	return out
}

// endOfStep is the last event of a step, or of the last step with one before it.
func (f *finder) endOfStep(step int) int {
	later := sort.Search(len(f.h.Events), func(i int) bool { return f.h.Events[i].Step > step })
	return max(0, later-1)
}

// readOf reports where reconcile start read from its cache before event i: what the cache lacked if
// it lacked something, or else what it read last. It is "" if nothing is known, or if it read last
// from the server.
func (u *unseen) readOf(start, i int) string {
	reads := u.reads(start, i)
	if len(reads) == 0 {
		return ""
	}
	if stale := u.staleReads(start); len(stale) > 0 {
		if at := slices.Index(reads, stale[0].Read); at >= 0 {
			return "it read that cache at " + u.readAt(&u.h.Events[start], reads[at])
		}
	}
	if j := u.asked(start, i); j >= 0 && len(u.reads(start, j)) == len(reads) {
		return ""
	}
	return "it had read its cache at " + u.readAt(&u.h.Events[start], reads[len(reads)-1])
}

// readAt is where the incarnation of an event read its cache, when, and what it found. It has both
// versions if the server had a later one.
func (u *unseen) readAt(e *history.Event, r history.Read) string {
	at := u.endOfStep(r.Step)
	if u.h.Events[at].Step != r.Step { // then the time is not known
		return r.String()
	}
	result := r.Result()
	if r.Found > 0 && r.Ref.Name != "" {
		for _, g := range u.gapsAt(at, e) {
			held, known := u.held(e, g.ref, at)
			if server := u.revision(g.write, g.ref); r.Covers(g.ref) && known && held < server {
				result += fmt.Sprintf(" rv %d, the server had rv %d", held, server)
			}
		}
	}
	return fmt.Sprintf("%s (%s at %s: %s)", r.Source, r.What(), history.Moment(u.h.Events[at].At), result)
}

// held is the version of an object that the cache of an incarnation had received before the step of
// event i. It reports false if that is not known, or if the incarnation has listed the kind twice,
// as for two caches.
func (f *finder) held(e *history.Event, ref history.Ref, i int) (revision int64, ok bool) {
	lists := 0
	for _, j := range f.delivered[e.Actor()+" "+ref.Kind] {
		d := &f.h.Events[j]
		switch {
		case d.Step >= f.h.Events[i].Step || d.Ref.Cluster != ref.Cluster || d.Ref.Group != ref.Group:
		case d.Verb == "LIST":
			lists++
			for _, o := range initialObjects(d) {
				if o.ref == ref {
					revision = o.revision
				}
			}
		case d.Ref == ref:
			revision = d.Revision
		}
	}
	return revision, revision > 0 && lists < 2
}

// revision is the version of an object that request i committed.
func (f *finder) revision(i int, ref history.Ref) (revision int64) {
	for _, c := range f.h.Events[i].Changes {
		if c.Ref == ref {
			revision = c.Revision
		}
	}
	return revision
}

// asked is the last request of reconcile start before event i that read something from the server;
// -1 if there is none.
func (f *finder) asked(start, i int) int {
	for j := i - 1; j > start; j-- {
		e := &f.h.Events[j]
		if of, ok := f.dequeued[j]; ok && of == start && e.Kind == history.Request && !refused(e) && e.Host == "" &&
			(e.Verb == "get" || e.Verb == "list") {
			return j
		}
	}
	return -1
}

// based reports what reconcile start read last from the server before event i, and what wrote it
// unless a sentence has named that. If that was a list, or if nothing was found, it also reports
// what it had read before.
func (n *narrator) based(start, i int, add func(string, ...any)) {
	for j, last := n.asked(start, i), true; j >= 0; j, last = n.asked(start, j), false {
		e := &n.h.Events[j]
		at := ""
		if e.Source != "" {
			at = " at " + e.Source
		}
		w, ok := n.write[commit{e.Ref.Cluster, e.Revision}]
		found := e.Verb == "get" && e.Code != http.StatusNotFound
		switch ok = ok && found && !n.steps[w]; {
		case ok:
			add("It had read %s from the server%s, at %s, last written %s.", e.Ref, at, history.Moment(e.At), n.step(w))
		case !last:
		case e.Verb == "list":
			add("It had read the server%s (%s at %s%s).", at, history.Read{Ref: e.Ref}.What(), history.Moment(e.At),
				itemsOf(e))
		case found:
			add("It had read %s from the server%s, at %s.", e.Ref, at, history.Moment(e.At))
		default:
			add("It had read %s from the server%s, at %s: not found.", e.Ref, at, history.Moment(e.At))
		}
		if found {
			return
		}
	}
}

// itemsOf is what a list returned: how many objects, and the first names; "" if it is not known.
func itemsOf(e *history.Event) string {
	var list struct {
		Items *[]struct {
			Metadata struct{ Namespace, Name string }
		}
	}
	if json.Unmarshal(e.Received, &list) != nil || list.Items == nil {
		return ""
	}
	var names []string
	for _, o := range *list.Items {
		name := o.Metadata.Name
		if e.Ref.Namespace == "" && o.Metadata.Namespace != "" {
			name = o.Metadata.Namespace + "/" + name
		}
		names = append(names, name)
	}
	text := ": " + history.Read{Found: len(names)}.Result()
	if len(names) > 0 {
		text += ": " + strings.Join(first(names, maxItems), ", ")
	}
	if more := len(names) - maxItems; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
