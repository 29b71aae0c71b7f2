// This file exists to read a history once, piece by piece as it grows, into what the properties are
// about: what was written of which version, what the release records and the status said meanwhile,
// and who was at it.

package clusterextension

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

// versionKey is on every object whose content belongs to one version.
const versionKey = "shop.example/version"

// Record is what has been read of one run's history. All of it is about the extension app.
type Record struct {
	catalog *catalog
	edges   map[string][]string // all that were ever in the catalog
	right   string              // the version that it should come to; "" if several may be right
	failing bool                // the server refuses that version, because of the cause
	counts  bool                // the operator says how often it was interrupted
	over    bool                // everything has happened, and the world has settled

	events   int  // read so far
	override bool // the user allows whatever he wants
	deleted  bool // the user does not want it any more
	objects  map[history.Ref]object
	secrets  map[string]map[string][]byte // what is in the Secrets of the records
	records  map[string]*record
	revision int // the highest that any record has had
	status   said
	said     []said

	begun  string                 // the version of which something was written while it was not deployed; "" if none
	newest string                 // the highest version of which anything was written
	whole  map[string]bool        // versions that have been there completely at some moment
	busy   map[string]reconcileOf // by process: what it reconciles
	fence  *fence.Judge

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
	tries         map[history.ReconcileID]bool

	broken map[string]error // the first fault of each kind, by the sentence
}

// object is one object of the extension.
type object struct {
	version string
	content map[string]any
}

// record is one release record.
type record struct {
	revision        int
	status, version string
	at              history.Time // when it came to this status
}

// reconcileOf is a reconcile of the extension that is under way.
type reconcileOf struct {
	reconcile history.Reconcile
	since     history.Time
}

// said is what the status said from a time on.
type said struct {
	at              history.Time
	installed       string // version, if any
	isInstalled     bool
	reason, message string // of Progressing
}

func newRecord(c *catalog) *Record {
	return &Record{catalog: c, edges: map[string][]string{}, objects: map[history.Ref]object{},
		secrets: map[string]map[string][]byte{}, records: map[string]*record{}, whole: map[string]bool{},
		busy: map[string]reconcileOf{}, fence: fence.New(), tries: map[history.ReconcileID]bool{},
		broken: map[string]error{}, quiet: true}
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
	for ; b.events < len(h.Events); b.events++ {
		e := &h.Events[b.events]
		b.fence.Event(e)
		switch under := b.busy[e.Actor()]; {
		case e.Kind == history.Crash:
			if b.tries[history.ReconcileID{Actor: e.Actor(), Reconcile: under.reconcile}] {
				b.row++
			}
			if b.row == many && b.fifth == 0 {
				b.fifth = e.At
			}
			delete(b.busy, e.Actor())
			b.interrupted(e.At)
		case e.Kind == history.Stop:
			delete(b.busy, e.Actor())
		case e.Kind == history.Fault && b.mine(e.Reconcile) && breaksOff(e.Injection):
			b.interrupted(e.At)
		case e.Kind == history.Fault && b.mine(e.Reconcile) && stillborn(e.Injection):
			b.attempted(e)
		case e.Kind == history.Dequeue && b.mine(e.Reconcile):
			b.dequeued(e)
		case e.Kind == history.Done && b.mine(e.Reconcile):
			b.done(e)
		}
		for i := range e.Changes {
			b.change(e, &e.Changes[i])
		}
	}
}

// mine says whether a reconcile is of the extension.
func (*Record) mine(reconcile history.Reconcile) bool {
	return reconcile.Namespace == "" && reconcile.Name == app
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
	for _, r := range b.records {
		b.broke = b.broke || strings.HasPrefix(r.status, "pending") || r.status == "uninstalling"
	}
	b.since, b.back, b.quiet, b.recent, b.ended, b.timers = at, 0, false, 0, 0, 0
}

func (b *Record) dequeued(e *history.Event) {
	b.busy[e.Actor()] = reconcileOf{e.Reconcile, e.At}
	if e.Cause.Kind == history.CauseBackOff {
		b.timers++
	}
	b.judgeProgress(e.At)
}

func (b *Record) done(e *history.Event) {
	since := b.busy[e.Actor()].since
	delete(b.busy, e.Actor())
	if b.back == 0 {
		b.back = e.At
	}
	if b.tries[e.ReconcileID()] {
		b.row, b.fifth = 0, 0
		if since > b.since {
			b.ended++
		}
	}
	if b.well() {
		b.quiet, b.row, b.fifth = true, 0, 0
	}
	b.judgeProgress(e.At)
	b.judgeEmpty(e.At, since)
	b.judgeMask(e.At)
}

// well says whether the status says that all is well, and it is.
func (b *Record) well() bool {
	_, r := b.deployed()
	return b.status.isInstalled && b.status.reason == v1.ReasonSucceeded && r != nil &&
		r.version == b.status.installed &&
		(b.right == "" || b.right == r.version)
}

// deployed is the newest record that says so, with its name.
func (b *Record) deployed() (name string, newest *record) {
	for n, r := range b.records {
		if r.status == "deployed" && (newest == nil || r.revision > newest.revision) {
			name, newest = n, r
		}
	}
	return name, newest
}

// attempted counts a reconcile that wrote an object of the bundle, or began a record.
func (b *Record) attempted(e *history.Event) {
	if key := e.ReconcileID(); !e.Reconcile.None() && !b.tries[key] {
		b.tries[key] = true
		b.attempts++
		b.recent++
	}
}

// change takes in one change of one object.
func (b *Record) change(e *history.Event, c *history.Change) {
	switch {
	case c.Ref.Kind == v1.ClusterExtensionKind:
		b.readExtension(e, c)
	case c.Ref.Kind == "Secret" && c.Ref.Namespace == clusterextension.DefaultNamespace:
		b.readRecord(e, c)
	default:
		b.readObject(e, c)
	}
}

func (b *Record) readObject(e *history.Event, c *history.Change) {
	var m metav1.PartialObjectMetadata
	if stored.Decode(c.Object, &m); m.Labels[v1.OwnerNameLabel] != app {
		return
	}
	var u unstructured.Unstructured
	stored.Decode(c.Object, &u)
	if c.Ref.Kind == "CustomResourceDefinition" && !b.deleted && (c.Type == "DELETED" || m.DeletionTimestamp != nil) {
		b.breaks(userData, "at %s %s is deleted, and with it what users have made of that kind", history.Clock(e.At),
			c.Ref)
	}
	before := b.versions()
	o := object{m.Annotations[versionKey], u.Object}
	b.objects[c.Ref] = o
	if c.Type == "DELETED" {
		delete(b.objects, c.Ref)
	} else if !e.Reconcile.None() {
		b.attempted(e)
		b.fence.Object(e, c)
		if o.version != "" {
			b.judgeWrite(e, c.Ref, o.version, before)
			b.wrote(o.version)
		}
	}
	if b.begun != "" && !slices.Contains(b.versions(), b.begun) {
		b.begun = "" // nothing of it is left
	}
}

// wrote takes in that the operator has written something of a version.
func (b *Record) wrote(version string) {
	b.newest = max(b.newest, version)
	b.whole[version] = b.whole[version] || b.complete(version)
	if _, r := b.deployed(); r == nil || r.version != version {
		b.begun = version
	}
}

// complete says whether every object of a version is there.
func (b *Record) complete(version string) bool {
	n := 0
	for _, o := range b.objects {
		if o.version == version {
			n++
		}
	}
	return n == map[string]int{one: 2, two: 3, refused: 4, hooked: 3, three: 2}[version]
}

func (b *Record) readRecord(e *history.Event, c *history.Change) {
	var s corev1.Secret
	stored.Decode(c.Object, &s)
	name := s.Labels["key"] // of the index, for chunks too
	b.secrets[s.Name] = s.Data
	if c.Type == "DELETED" {
		delete(b.secrets, s.Name)
	}
	was := b.records[name]
	if s.Labels["type"] != "index" || s.Labels["name"] != app {
		b.fence.Record(e, c, name, nil)
		return
	}
	b.fence.Record(e, c, name, &s)
	if c.Type == "DELETED" {
		if len(b.records) < mostRecords && !b.deleted {
			b.breaks(keepsRecords, "at %s %s is deleted, one of %d records", history.Clock(e.At), c.Ref, len(b.records))
		}
		if delete(b.records, name); len(b.records) == 0 {
			b.revision = 0
		}
		return
	}
	if c.Type == "ADDED" {
		b.attempted(e)
	}
	revision, err := strconv.Atoi(s.Labels["version"])
	if err != nil {
		panic(fmt.Sprintf("the revision of record %s: %v", s.Name, err))
	}
	r := &record{revision: revision, status: s.Labels["status"], version: s.Annotations[v1.BundleVersionKey], at: e.At}
	if was != nil && was.status == r.status {
		r.at = was.at
	}
	b.records[name] = r
	if r.status == "deployed" && b.begun == r.version {
		b.begun = ""
	}
	b.judgeRecords(e, r, was)
}

func (b *Record) readExtension(e *history.Event, c *history.Change) {
	var ext v1.ClusterExtension
	stored.Decode(c.Object, &ext)
	b.deleted = c.Type == "DELETED" || ext.DeletionTimestamp != nil
	b.override = ext.Spec.Source.Catalog.UpgradeConstraintPolicy == v1.PolicySelfCertified
	if b.deleted {
		return
	}
	now := said{at: e.At, isInstalled: apimeta.IsStatusConditionTrue(ext.Status.Conditions, v1.TypeInstalled)}
	if i := ext.Status.Install; i != nil {
		now.installed = i.Bundle.Version
	}
	if p := apimeta.FindStatusCondition(ext.Status.Conditions, v1.TypeProgressing); p != nil {
		now.reason, now.message = p.Reason, p.Message
	}
	b.status = now
	b.said = append(b.said, now)
	if e.Sub == "status" {
		b.judgeStatus(e, now)
	}
}

// saidFor is for how long in a span the status said what it should.
func (b *Record) saidFor(from, to time.Duration, holds func(said) bool) (d time.Duration) {
	for i, s := range b.said {
		end := to
		if i+1 < len(b.said) {
			end = min(to, b.said[i+1].at)
		}
		if begin := max(s.at, from); holds(s) && end > begin {
			d += end - begin
		}
	}
	return d
}

// versions are those of which something is there, lowest first.
func (b *Record) versions() (out []string) {
	for _, o := range b.objects {
		if o.version != "" && !slices.Contains(out, o.version) {
			out = append(out, o.version)
		}
	}
	slices.Sort(out)
	return out
}
