package property

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// NoLostUpdate holds if no reconcile overwrites a field that another writer has changed since the
// version that the reconcile knew. For Always. Without patterns it covers all objects except Leases
// and Events.
//
// The reconcile knew a version if its watch event, list or reply had reached the incarnation by the
// time of the reconcile's last reply (or its beginning). Requests that touch other fields are safe,
// as with server-side apply. Elements of lists are matched by their name, type, key, uid or ip, and
// elements of other lists by their values.
//
// A request that carries a resourceVersion is safe if its content is based on that version. A retry
// that puts the newest resourceVersion on an object that was read earlier reverts what others have
// written since, and the server accepts it. A field is lost if an update sets it back to the value
// of the version that the content is based on. That version shows in two ways:
//
//   - The reconcile sends again, under a newer version, what was refused with a conflict.
//     Fields that the program itself has written may be intended, and are not reported.
//   - The update has the generation or the managed fields of an older version than the one that
//     it carries.
//
// An update with neither sign counts as based on the version that it carries. An example that is
// missed: a stale copy gets the newest resourceVersion before its first attempt, and only fields
// that do not count for the generation differ. A change that stale content overwrites with a new
// value is not reported either.
// https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-versions
func NoLostUpdate(of ...history.Ref) Property { return noLostUpdate(writers{of: of}) }

// NoLostField is [NoLostUpdate] for the fields of an object that the program itself has never
// written: labels, annotations and fields that belong to other writers. For Always. A program may
// reset its own fields whichever writer has changed them, for example by server-side apply.
func NoLostField(of ...history.Ref) Property { return noLostUpdate(writers{of: of, foreign: true}) }

// NoDroppedField holds if no program removes a field that a user has set, by an update of the whole
// object, if it has never written the field itself. For Always. Without patterns it covers all
// objects except Leases and Events. Metadata and status do not count.
//
// A program does that if its types do not have the field: an old version that reads an object of
// the new one and updates it, or a program built with an older library. It had observed the change,
// so [NoLostUpdate] does not report it. An operator that removes a field of the user's by design,
// such as a request that it has carried out, violates it, too.
// https://github.com/kubernetes/community/blob/main/contributors/devel/sig-architecture/api_changes.md#on-compatibility
func NoDroppedField(of ...history.Ref) Property { return noLostUpdate(writers{of: of, drops: true}) }

func noLostUpdate(which writers) Property {
	return perRun(func() judge {
		w := which
		w.objects, w.known = map[history.Ref]map[string]written{}, map[view][]version{}
		w.active, w.bases = map[history.ReconcileID]int{}, map[history.Ref][]base{}
		w.refused, w.own = map[history.ReconcileID]map[string]refusal{}, map[history.Ref]map[string]bool{}
		return judge{event: w.event}
	})
}

// writers keeps account of who wrote what, and who knew it.
type writers struct {
	foreign bool // only fields that the program has never written count
	drops   bool // only fields that an update drops count
	of      []history.Ref
	objects map[history.Ref]map[string]written // the last change of each field
	known   map[view][]version                 // what each incarnation has learned
	active  map[history.ReconcileID]int        // index of the event that set each reconcile going last
	bases   map[history.Ref][]base             // the latest versions of each object
	// the updates of each reconcile under way that met a conflict, by object
	refused map[history.ReconcileID]map[string]refusal
	// which fields of each object each process has written: "process path"
	own map[history.Ref]map[string]bool
}

// view is an object, or a kind in all namespaces, as one incarnation sees it.
type view struct {
	actor string
	ref   history.Ref
}

// written is the last change of a field.
type written struct {
	by       string // process
	revision int64
	at       history.Time
	value    string
}

// version is one that a writer learned at an event.
type version struct {
	event    int
	revision int64
}

func (w *writers) event(h *history.History, e *history.Event) error {
	run := e.ReconcileID()
	switch e.Kind {
	case history.Start:
		w.forget((&history.Event{Process: e.Process, Incarnation: e.Incarnation - 1}).Actor())
	case history.Dequeue:
		w.active[run] = e.Index
	case history.Done:
		delete(w.active, run)
		delete(w.refused, run)
	case history.Deliver:
		w.learn(e.Actor(), e.Ref, e.Index, e.Revision)
	case history.Reply:
		if !e.Reconcile.None() {
			w.active[run] = e.Index
		}
		if e.Note == "" && e.Call >= 0 && e.Call < h.Len() {
			asked := &h.Since(e.Call)[0]
			revision := asked.Revision
			if asked.Verb == "list" {
				revision = revisionOfList(asked.Received)
			}
			w.learn(e.Actor(), asked.Ref, e.Index, revision)
		}
	case history.Request:
		w.refuse(run, e)
		for i := range e.Changes {
			if err := w.write(e, &e.Changes[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// revisionOfList is the version of all that a list shows: each cluster counts its own, and a server
// may be behind.
func revisionOfList(list []byte) int64 {
	var l struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(list, &l) != nil {
		return 0
	}
	revision, _ := strconv.ParseInt(l.Metadata.ResourceVersion, 10, 64)
	return revision
}

func (w *writers) learn(who string, ref history.Ref, event int, revision int64) {
	if !anyOf(w.of, ref) && ref.Name != "" || revision == 0 {
		return
	}
	if ref.Name == "" {
		ref.Namespace = ""
	}
	k := view{who, ref}
	w.known[k] = append(w.known[k], version{event, revision})
	if len(w.known[k])%manyVersions == 0 {
		w.trim(k, event)
	}
}

// manyVersions is the number of versions of an object after which those no longer needed are
// dropped.
const manyVersions = 64

// trim forgets the versions that no reconcile under way began or went on with.
func (w *writers) trim(k view, now int) {
	oldest := now
	for run, at := range w.active {
		if run.Actor == k.actor {
			oldest = min(oldest, at)
		}
	}
	i := len(w.known[k]) - 1
	for i > 0 && w.known[k][i].event > oldest {
		i--
	}
	w.known[k] = slices.Clone(w.known[k][i:])
}

// forget drops what an incarnation knew when the next one begins.
func (w *writers) forget(who string) {
	maps.DeleteFunc(w.known, func(k view, _ []version) bool { return k.actor == who })
	maps.DeleteFunc(w.active, func(run history.ReconcileID, _ int) bool { return run.Actor == who })
	maps.DeleteFunc(w.refused, func(run history.ReconcileID, _ map[string]refusal) bool { return run.Actor == who })
}

// knew is the newest version of the object that an incarnation had learned by an event.
func (w *writers) knew(who string, ref history.Ref, event int) (revision int64) {
	for _, r := range []history.Ref{ref, {Cluster: ref.Cluster, Group: ref.Group, Kind: ref.Kind}} {
		for _, v := range slices.Backward(w.known[view{who, r}]) {
			if v.event <= event {
				revision = max(revision, v.revision)
				break
			}
		}
	}
	return revision
}

// write takes a change in and finds fields that it overwrites blindly.
func (w *writers) write(e *history.Event, c *history.Change) error {
	if !anyOf(w.of, c.Ref) {
		return nil
	}
	if c.Type == "DELETED" {
		delete(w.objects, c.Ref)
		delete(w.bases, c.Ref)
		delete(w.own, c.Ref)
		return nil
	}
	defer w.keep(c)
	fields := w.objects[c.Ref]
	if fields == nil || c.Type == "ADDED" {
		fields = map[string]written{}
		w.objects[c.Ref] = fields
		w.own[c.Ref] = map[string]bool{}
		delete(w.bases, c.Ref)
	}
	since, running := w.active[e.ReconcileID()]
	named, _ := strconv.ParseInt(metadataOf(e.Sent, "resourceVersion").ResourceVersion, 10, 64)
	stale := w.basedOn(e, c.Ref, named)
	for _, change := range changedFields(c.Previous, c.Object) {
		path, value := change.path, change.value
		last, ok := fields[path]
		mine := w.own[c.Ref][e.Process+" "+path]
		if w.drops {
			dropped := ok && e.Verb == "update" && e.Incarnation > 0 && last.by == "user" && value == "" && !mine &&
				!strings.HasPrefix(path, ".metadata.") && !strings.HasPrefix(path, ".status.")
			if breaks("NoDroppedField: a field that an update drops", dropped) {
				return history.About(fmt.Errorf("%s dropped %s, which the user had set to %s at %s (rv %d): "+
					"the program sent the whole object without it",
					what(e), path, last.value, history.Clock(last.at), last.revision), c.Ref)
			}
		} else if ok && running && e.Incarnation > 0 && last.by != e.Process && !(w.foreign && mine) {
			known := max(named, w.knew(e.Actor(), c.Ref, since))
			if breaks("NoLostUpdate: a change that the writer did not know", known < last.revision) {
				return history.About(fmt.Errorf("%s in reconcile %q changed %s from %s, "+
					"which %s had written at %s (rv %d), to %s without knowing it: "+
					"the newest version that it knew was rv %d",
					what(e), e.Reconcile.String(), path, cmp.Or(last.value, "nothing"), last.by, history.Clock(last.at),
					last.revision, cmp.Or(value, "nothing"), known), c.Ref)
			}
			meant := !stale.proven && mine
			back := stale.object != nil && last.revision > stale.revision && !meant &&
				value == fieldsOf(stale.object)[path]
			if breaks("NoLostUpdate: a field that stale content sets back", back) {
				return history.About(fmt.Errorf("%s in reconcile %q set %s back from %s, "+
					"which %s had written at %s (rv %d), to %s: "+
					"it carries resourceVersion %d, but its content is that of rv %d",
					what(e), e.Reconcile.String(), path, cmp.Or(last.value, "nothing"), last.by, history.Clock(last.at),
					last.revision, cmp.Or(value, "nothing"), named, stale.revision), c.Ref)
			}
		}
		w.own[c.Ref][e.Process+" "+path] = true
		fields[path] = written{e.Process, c.Revision, e.At, value}
	}
	return nil
}
