// This file reads a history, event by event, into what the properties are about: what was written
// of which version, what the release records and the status said meanwhile, and who was at it.

package clusterextension

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
)

// Record is what has been read of one run's history. All of it is about the extension app.
type Record struct {
	catalog *catalog
	edges   map[string][]string // all that were ever in the catalog
	right   string              // the version that it should come to; "" if several may be right
	failing bool                // the server refuses that version, because of the cause
	counts  bool                // the operator says how often it was interrupted
	over    bool                // everything has happened, and the world has settled
	// since when version 2 is refused for good, and since when there are no faults any more
	refusedFrom, measuredFrom history.Time

	view       *view.View
	all        *view.Track[object]
	secrets    *view.Track[corev1.Secret]
	extensions *view.Track[v1.ClusterExtension]
	reconciles []*view.Reconcile // of the extension
	committed  map[int64]history.Time
	injected   []history.Time   // faults
	reached    map[reached]bool // which object has had which version
	further    []further        // attempts that got further than those before
	fence      *fence.Judge

	override bool // the user allows whatever he wants
	deleted  bool // the user does not want it any more
	revision int  // the highest that any record has had
	status   said

	// begun is the version of which something was written, and that is not deployed and healthy; ""
	// if there is none.
	begun  string
	newest string          // the highest version of which anything was written
	whole  map[string]bool // versions that have been there completely, and healthy, at some moment

	interruptions int
	since         history.Time // of the last interruption
	subject       string       // the version that was begun then
	broke         bool         // something was under way then
	back          history.Time // the end of the first dequeue after it; 0 if there was none yet
	quiet         bool         // all is well since
	// since the beginning; recent are those since the last interruption, and ended those of them
	// that have ended
	attempts      int
	tooLong       int // attempts that the operator's own time limit ended, as its requests took too long
	recent, ended int
	timers        int          // back-off timers since the last interruption
	row           int          // attempts in a row that were interrupted
	fifth         history.Time // when the fifth of them was
	tries         map[*view.Reconcile]bool

	bounded func(*history.History) error // records are not too many
	broken  map[string]error             // the first fault of each kind, by the sentence
}

func newRecord(c *catalog) *Record {
	v := view.New()
	return &Record{catalog: c, edges: map[string][]string{}, view: v, all: view.Follow[object](v, history.Ref{}),
		secrets:    view.Follow[corev1.Secret](v, recordKinds),
		extensions: view.Follow[v1.ClusterExtension](v, extensionRef),
		committed:  map[int64]history.Time{}, reached: map[reached]bool{}, whole: map[string]bool{}, fence: fence.New(),
		tries: map[*view.Reconcile]bool{}, bounded: fewRecords(), broken: map[string]error{}, quiet: true}
}

// known takes in the edges of the catalog.
func (b *Record) known() {
	for _, bundle := range b.catalog.bundles {
		for _, from := range bundle.From {
			b.edges[bundle.Name] = append(b.edges[bundle.Name], from)
		}
	}
}

// breaks keeps the first fault under a sentence.
func (b *Record) breaks(sentence, format string, args ...any) {
	if b.broken[sentence] == nil {
		b.broken[sentence] = fmt.Errorf(format, args...)
	}
}

// read takes in what has happened since the last time.
func (b *Record) read(h *history.History) {
	for e := range b.view.New(h) {
		b.fence.Event(e)
		mine := e.Reconcile.Namespace == "" && e.Reconcile.Name == app
		if e.Kind == history.Fault || e.Kind == history.Deliver && b.late(e) {
			b.injected = append(b.injected, e.At)
		}
		switch {
		case e.Kind == history.Crash:
			b.crashed(e)
		case e.Kind == history.Fault && mine && breaksOff(e.Injection):
			b.interrupted(e.At)
		case e.Kind == history.Fault && mine && stillborn(e.Injection):
			b.attempted(e)
		case e.Kind == history.Dequeue && mine:
			b.dequeued(e)
		case e.Kind == history.Done && mine:
			b.done(e)
		}
		for i := range e.Changes {
			b.committed[e.Changes[i].Revision] = e.At
			b.change(e, &e.Changes[i])
		}
	}
}

// late says whether a fault has delayed a watch event.
func (b *Record) late(e *history.Event) bool {
	at, known := b.committed[e.Revision]
	return known && e.At-at > soon
}

// crashed takes in the death of an operator, and of what it was at.
func (b *Record) crashed(e *history.Event) {
	for _, r := range slices.Backward(b.reconciles) {
		if r.Killed && r.Process == e.Process && r.Incarnation == e.Incarnation && b.tries[r] {
			b.row++
			break
		}
		if r.Incarnation < e.Incarnation {
			break
		}
	}
	if b.row == many && b.fifth == 0 {
		b.fifth = e.At
	}
	b.interrupted(e.At)
}

// breaksOff says whether a fault, other than the death of the operator, ends an attempt where it
// does not expect it.
func breaksOff(in *history.Injection) bool {
	return in.Is("ServerError") || in.Is("LostReply")
}

// stillborn says whether the operator is killed as it is about to write an object: that was an
// attempt, too.
func stillborn(in *history.Injection) bool {
	return in.Is("Crash") && in.How == "before" && (in.Ref.Kind == "ConfigMap" || in.Ref.Kind == "Deployment")
}

func (b *Record) interrupted(at history.Time) {
	b.interruptions++
	b.subject, b.broke = b.begun, b.begun != ""
	for r := range b.records() {
		b.broke = b.broke || strings.HasPrefix(r.status, "pending") || r.status == "uninstalling"
	}
	b.since, b.back, b.quiet, b.recent, b.ended, b.timers = at, 0, false, 0, 0, 0
}

func (b *Record) dequeued(e *history.Event) {
	r := b.view.Of(e)
	b.reconciles = append(b.reconciles, r)
	if r.BackOff {
		b.timers++
	}
	b.judgeProgress(e.At)
}

// tooLate is what the operator says of an attempt that took longer than it may.
const tooLate = "the time for this attempt is over"

func (b *Record) done(e *history.Event) {
	r := b.view.Of(e)
	if b.back == 0 {
		b.back = e.At
	}
	if b.tries[r] {
		if strings.Contains(r.Outcome.Text, tooLate) {
			b.tooLong++
		}
		b.row, b.fifth = 0, 0
		if r.Began > b.since {
			b.ended++
		}
	}
	if b.well() {
		b.quiet, b.row, b.fifth = true, 0, 0
	}
	b.judgeProgress(e.At)
	b.judgeEmpty(e.At, r.Began)
	b.judgeMask(e.At)
}

// well says whether the status says that all is well, and it is.
func (b *Record) well() bool {
	if !b.status.isInstalled || b.status.reason != v1.ReasonSucceeded {
		return false
	}
	r := b.deployed()
	return r != nil && r.version == b.status.installed && (b.right == "" || b.right == r.version)
}

// attempted counts a reconcile that wrote an object of the bundle, or began a record.
func (b *Record) attempted(e *history.Event) {
	if r := b.view.Of(e); r != nil && !b.tries[r] {
		b.tries[r] = true
		b.attempts++
		b.recent++
	}
}

// change takes in one change of one object.
func (b *Record) change(e *history.Event, c *history.Change) {
	switch {
	case c.Ref == extensionRef:
		b.readExtension(e, c)
	case c.Ref.Kind == recordKinds.Kind && c.Ref.Namespace == recordKinds.Namespace:
		b.readRecord(e, c)
	case c.Ref.Kind != v1.ClusterExtensionKind:
		b.readObject(e, c)
	}
}

func (b *Record) readObject(e *history.Event, c *history.Change) {
	o := b.all.ByUID(c.UID)
	m := &o.Value().Metadata
	if m.Labels[v1.OwnerNameLabel] != app {
		return
	}
	if c.Ref.Kind == "CustomResourceDefinition" && !b.deleted && (c.Type == "DELETED" || m.DeletionTimestamp != nil) {
		b.breaks(userData, "at %s %s is deleted, and with it what users have made of that kind", history.Clock(e.At),
			c.Ref)
	}
	version := o.Value().version()
	if c.Type != "DELETED" && !e.Reconcile.None() {
		b.attempted(e)
		b.fence.Object(e, c)
		if version != "" {
			b.judgeWrite(e, c.Ref, version, b.versions(o))
			b.wrote(version)
			b.gotFurther(e, c.Ref, version)
		}
	}
	b.whole[version] = b.whole[version] || b.complete(version)
	b.arrives()
}

// wrote takes in that the operator has written something of a version.
func (b *Record) wrote(version string) {
	b.newest = max(b.newest, version)
	if r := b.deployed(); r == nil || r.version != version {
		b.begun = version
	}
}

// arrives takes in that what was begun is deployed and healthy, or that nothing is left of it.
func (b *Record) arrives() {
	if b.begun == "" {
		return
	}
	r := b.deployed()
	if _, healthy := b.healthySince(b.begun); healthy && r != nil && r.version == b.begun ||
		!slices.Contains(b.versions(nil), b.begun) {
		b.begun = ""
	}
}

func (b *Record) readRecord(e *history.Event, c *history.Change) {
	o := b.secrets.ByUID(c.UID)
	name := o.Value().Labels["key"] // of the index, for chunks too
	r, isIndex := recordOf(o)
	if !isIndex {
		b.fence.Record(e, c, name, nil)
		return
	}
	b.fence.Record(e, c, name, o.Value())
	if c.Type == "DELETED" {
		left := len(slices.Collect(b.records()))
		if left+1 < mostRecords && !b.deleted {
			b.breaks(keepsRecords, "at %s %s is deleted, one of %d records", history.Clock(e.At), c.Ref, left+1)
		}
		if left == 0 {
			b.revision = 0
		}
		return
	}
	if c.Type == "ADDED" {
		b.attempted(e)
	}
	b.arrives()
	b.judgeRecords(e, c.Type == "ADDED", &r)
}

func (b *Record) readExtension(e *history.Event, c *history.Change) {
	ext := b.extensions.ByUID(c.UID).Value()
	b.deleted = c.Type == "DELETED" || ext.DeletionTimestamp != nil
	b.override = ext.Spec.Source.Catalog.UpgradeConstraintPolicy == v1.PolicySelfCertified
	if b.deleted {
		return
	}
	b.status = saidBy(ext)
	if e.Sub == "status" {
		b.judgeStatus(e)
	}
}
