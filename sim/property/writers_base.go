package property

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/kept"
)

// base is a version of an object that the content of an update may have been read from.
type base struct {
	revision int64
	object   []byte
}

// marks are what the server writes into an object and a client sends back unread. They say which
// version the content of an update was read from.
type marks struct {
	managed    string // managed fields, as JSON with sorted keys
	generation int64
}

var marksOf = kept.Of(func(object []byte) marks {
	var m struct {
		ManagedFields []any `json:"managedFields"`
		Generation    int64 `json:"generation"`
	}
	if json.Unmarshal(kept.Member(object, "metadata"), &m) != nil || m.ManagedFields == nil {
		return marks{"", m.Generation}
	}
	return marks{text(m.ManagedFields), m.Generation}
})

// refusal is an update that met a conflict.
type refusal struct {
	content string // without the version that it carried
	named   int64  // the version that it carried
}

// origin is the version that the content of an update is based on, if that is older than the
// version that the update carries; else its object is nil.
type origin struct {
	revision int64
	object   []byte
	proven   bool // by marks of the server
}

// mostBases is how many versions of each object are kept. Older content is not checked.
const mostBases = 16

// keep remembers the version that a change made.
func (w *writers) keep(c *history.Change) {
	all := append(w.bases[c.Ref], base{c.Revision, c.Object})
	if len(all) > mostBases {
		all = slices.Clone(all[1:])
	}
	w.bases[c.Ref] = all
}

// refuse remembers an update that met a conflict. Content that was refused before keeps its
// version.
func (w *writers) refuse(run history.ReconcileID, e *history.Event) {
	if e.Verb != "update" || e.Code != http.StatusConflict || e.Reconcile.None() || !anyOf(w.of, e.Ref) {
		return
	}
	content, named := contentOf(e.Sent)
	if w.refused[run] == nil {
		w.refused[run] = map[string]refusal{}
	}
	if at := target(e); w.refused[run][at].content != content {
		w.refused[run][at] = refusal{content, named}
	}
}

// target is what an update writes to.
func target(e *history.Event) string { return e.Ref.Group + " " + e.Ref.String() + "/" + e.Sub }

// contentOf is the body of an update without the version that it carries, and that version.
func contentOf(body []byte) (string, int64) {
	var o map[string]any
	if json.Unmarshal(body, &o) != nil {
		return "", 0
	}
	m, _ := o["metadata"].(map[string]any)
	version, _ := m["resourceVersion"].(string)
	delete(m, "resourceVersion")
	named, _ := strconv.ParseInt(version, 10, 64)
	return text(o), named
}

// basedOn finds the version that the content of an update is based on.
func (w *writers) basedOn(e *history.Event, ref history.Ref, named int64) origin {
	if e.Verb != "update" || named == 0 {
		return origin{}
	}
	if sent := marksOf(e.Sent); sent != (marks{}) {
		for i := range slices.Backward(w.bases[ref]) {
			b := &w.bases[ref][i]
			if b.revision <= named && sent.fit(marksOf(b.object)) {
				if b.revision < named {
					return origin{b.revision, b.object, true}
				}
				break
			}
		}
	}
	refused, ok := w.refused[e.ReconcileID()][target(e)]
	if !ok {
		return origin{}
	}
	if content, _ := contentOf(e.Sent); content == "" || refused.content != content {
		return origin{}
	}
	for _, b := range w.bases[ref] {
		if b.revision == refused.named {
			return origin{b.revision, b.object, false}
		}
	}
	return origin{}
}

// fit reports whether a version has those marks that an update shows.
func (m marks) fit(version marks) bool {
	return (m.managed == "" || m.managed == version.managed) &&
		(m.generation == 0 || m.generation == version.generation)
}
