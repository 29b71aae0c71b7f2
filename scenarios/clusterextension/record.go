// This file reads a history, event by event, into what the properties are about: what was written of
// which version, what the release records and the status said meanwhile, and who was at it.

package clusterextension

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
)

// versionKey is on every object whose content belongs to one version, and healthKey on those that
// are healthy when they are available.
const versionKey, healthKey = "shop.example/version", "wavetank.example/health"

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
	injected   []history.Time // faults
	fence      *fence.Judge

	override bool // the user allows whatever he wants
	deleted  bool // the user does not want it any more
	revision int  // the highest that any record has had
	status   said

	begun  string          // the version of which something was written, and that is not deployed and healthy; "" if none
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
	recent, ended int
	timers        int          // back-off timers since the last interruption
	row           int          // attempts in a row that were interrupted
	fifth         history.Time // when the fifth of them was
	tries         map[*view.Reconcile]bool

	bounded func(*history.History) error // records are not too many
	broken  map[string]error             // the first fault of each kind, by the sentence
}

// object is what the properties read of any stored object.
type object struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Status   struct {
		ObservedGeneration int64 `json:"observedGeneration"`
		AvailableReplicas  int32 `json:"availableReplicas"`
	} `json:"status"`
}

func (o *object) version() string { return o.Metadata.Annotations[versionKey] }

// ill says whether an object should be available, and is not.
func (o *object) ill() bool {
	return o.Metadata.Annotations[healthKey] != "" &&
		(o.Status.ObservedGeneration < o.Metadata.Generation || o.Status.AvailableReplicas < 1)
}

// record is one release record.
type record struct {
	secret          *view.Object[corev1.Secret]
	revision        int
	status, version string
}

// recordOf is the record of which a Secret is the index, if it is one of the extension.
func recordOf(o *view.Object[corev1.Secret]) (r record, is bool) {
	s := o.Value()
	if s.Labels["type"] != "index" || s.Labels["name"] != app {
		return record{}, false
	}
	revision, err := strconv.Atoi(s.Labels["version"])
	if err != nil {
		panic(fmt.Sprintf("the revision of record %s: %v", s.Name, err))
	}
	return record{o, revision, s.Labels["status"], s.Annotations[v1.BundleVersionKey]}, true
}

// since is when it came to its status.
func (r *record) since() (at history.Time) {
	for _, s := range slices.Backward(r.secret.States) {
		if s.Value.Labels["status"] != r.status {
			break
		}
		at = s.At
	}
	return at
}

// said is what a status says.
type said struct {
	installed       string // version, if any
	isInstalled     bool
	reason, message string // of Progressing
}

func saidBy(ext *v1.ClusterExtension) said {
	s := said{isInstalled: apimeta.IsStatusConditionTrue(ext.Status.Conditions, v1.TypeInstalled)}
	if i := ext.Status.Install; i != nil {
		s.installed = i.Bundle.Version
	}
	if p := apimeta.FindStatusCondition(ext.Status.Conditions, v1.TypeProgressing); p != nil {
		s.reason, s.message = p.Reason, p.Message
	}
	return s
}

// recordKinds are the Secrets of release records, indices and chunks.
var recordKinds = history.Ref{Kind: "Secret", Namespace: clusterextension.DefaultNamespace}

// extensionRef is the extension.
var extensionRef = history.Ref{Group: v1.GroupVersion.Group, Kind: v1.ClusterExtensionKind, Name: app}

func newRecord(c *catalog) *Record {
	v := view.New()
	return &Record{catalog: c, edges: map[string][]string{}, view: v, all: view.Follow[object](v, history.Ref{}),
		secrets:    view.Follow[corev1.Secret](v, recordKinds),
		extensions: view.Follow[v1.ClusterExtension](v, extensionRef),
		committed:  map[int64]history.Time{}, whole: map[string]bool{}, fence: fence.New(),
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

func (b *Record) done(e *history.Event) {
	r := b.view.Of(e)
	if b.back == 0 {
		b.back = e.At
	}
	if b.tries[r] {
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

// records are those that there are.
func (b *Record) records() iter.Seq[*record] {
	return func(yield func(*record) bool) {
		for o := range b.secrets.Live() {
			if r, is := recordOf(o); is && !yield(&r) {
				return
			}
		}
	}
}

// deployed is the newest record that says so.
func (b *Record) deployed() (newest *record) {
	for r := range b.records() {
		if r.status == "deployed" && (newest == nil || r.revision > newest.revision) {
			newest = r
		}
	}
	return newest
}

// objects are those that say that they belong to the extension.
func (b *Record) objects() iter.Seq[*view.Object[object]] {
	return func(yield func(*view.Object[object]) bool) {
		for o := range b.all.Live() {
			own := o.Ref.Kind == v1.ClusterExtensionKind || o.Ref.Kind == "Secret"
			if !own && o.Value().Metadata.Labels[v1.OwnerNameLabel] == app && !yield(o) {
				return
			}
		}
	}
}

// healthySince is since when a version is healthy, as far as its objects say what that means, and
// whether it is.
func (b *Record) healthySince(version string) (since history.Time, healthy bool) {
	for o := range b.objects() {
		switch is := o.Value(); {
		case is.version() != version || is.Metadata.Annotations[healthKey] == "":
		case is.ill():
			return 0, false
		default:
			for _, s := range slices.Backward(o.States) {
				if s.Value.ill() || s.Value.version() != version {
					break
				}
				since = max(since, s.At)
			}
		}
	}
	return since, true
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

// complete says whether every object of a version is there, and healthy.
func (b *Record) complete(version string) bool {
	n := 0
	for o := range b.objects() {
		if o.Value().version() == version && !o.Value().ill() {
			n++
		}
	}
	return n == map[string]int{one: 2, two: 3, refused: 4, hooked: 3, slow: 3, broken: 3, three: 2}[version]
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

// saidFor is for how long in a span the status said what it should.
func (b *Record) saidFor(from, to history.Time, holds func(said) bool) history.Time {
	ext := b.extensions.Named(extensionRef)
	return ext.Held(from, to, func(ext *v1.ClusterExtension) bool { return holds(saidBy(ext)) })
}

// versions are those of which something is there, lowest first; of an object that was just changed,
// what was there before.
func (b *Record) versions(changed *view.Object[object]) (out []string) {
	add := func(version string) {
		if version != "" && !slices.Contains(out, version) {
			out = append(out, version)
		}
	}
	for o := range b.objects() {
		if o != changed {
			add(o.Value().version())
		}
	}
	if changed != nil && changed.Previous() != nil {
		add(changed.Previous().Value.version())
	}
	slices.Sort(out)
	return out
}
