// This file exists to read a history once, piece by piece as it grows, into what the properties are about: what was
// written of which version, what the release records and the status said meanwhile, and who was at it.

package clusterextension

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/sim/history"
)

// versionKey is on every object whose content belongs to one version.
const versionKey = "shop.example/version"

// Books is what has been read of one run's history. All of it is about the extension app.
type Books struct {
	catalog  *catalog
	edges    map[string][]string // all that were ever in the catalog
	override bool                // the user allows whatever he wants

	events  int // read so far
	objects map[history.Ref]object
	records map[string]*record
	status  said
	said    []said

	begun    string            // the version of which something was written while it was not deployed; "" if none
	newest   string            // the highest version of which anything was written
	whole    map[string]bool   // versions that have been there completely at some moment
	deployed map[string]bool   // versions that a record has said were deployed
	busy     map[string]hand   // by process: what it has in hand
	lost     map[string]string // by process and reconcile: the pending record of its that another has touched

	crashes  int
	since    history.Time // of the last crash
	fifth    history.Time // of the fifth
	quiet    bool         // all is well since
	attempts int          // since the beginning; recent are those since the last crash
	recent   int
	timers   int // back-off timers since the last crash
	tries    map[string]bool

	broken map[string]error // the first fault of each kind, by the sentence
}

// object is one object of the extension.
type object struct{ version, name string }

// record is one release record.
type record struct {
	revision        int
	status, version string
	process, during string       // who has written it last, in which reconcile
	at              history.Time // when it came to this status
}

// hand is a reconcile of the extension that is under way.
type hand struct {
	reconcile string
	since     history.Time
}

// said is what the status said from a time on.
type said struct {
	at              history.Time
	installed       string // version, if any
	isInstalled     bool
	reason, message string // of Progressing
}

func newBooks(c *catalog) *Books {
	return &Books{catalog: c, edges: map[string][]string{}, objects: map[history.Ref]object{}, records: map[string]*record{}, whole: map[string]bool{},
		deployed: map[string]bool{}, busy: map[string]hand{}, lost: map[string]string{}, tries: map[string]bool{}, broken: map[string]error{}, quiet: true}
}

// known takes in the edges of the catalog.
func (b *Books) known() {
	for _, bundle := range b.catalog.bundles {
		for _, from := range bundle.From {
			b.edges[bundle.Name] = append(b.edges[bundle.Name], from)
		}
	}
}

// breaks keeps the first fault under a sentence.
func (b *Books) breaks(sentence, format string, args ...any) {
	if b.broken[sentence] == nil {
		b.broken[sentence] = fmt.Errorf(format, args...)
	}
}

// read takes in what has happened since the last time.
func (b *Books) read(h *history.History) {
	for ; b.events < len(h.Events); b.events++ {
		e := &h.Events[b.events]
		switch e.Kind {
		case history.Crash, history.Stop:
			delete(b.busy, e.Actor())
			if e.Kind == history.Crash {
				if b.crashes++; b.crashes == many {
					b.fifth = e.At
				}
				b.since, b.quiet, b.recent, b.timers = e.At, false, 0, 0
			}
		case history.Handout:
			if b.mine(e.Reconcile) {
				b.busy[e.Actor()] = hand{e.Reconcile, e.At}
				b.handout(e)
			}
		case history.Done:
			if b.mine(e.Reconcile) {
				delete(b.busy, e.Actor())
				b.done(e)
			}
		}
		for i := range e.Changes {
			b.change(e, &e.Changes[i])
		}
	}
}

// mine says whether a reconcile, "controller /name #3", is of the extension.
func (*Books) mine(reconcile string) bool { return strings.Contains(reconcile, " /"+app+" #") }

func (b *Books) handout(e *history.Event) {
	if e.Cause == "timer(backoff)" {
		b.timers++
	}
	b.judgeProgress(e.At)
}

func (b *Books) done(e *history.Event) {
	if b.well() {
		b.quiet = true
	}
	b.judgeProgress(e.At)
}

// well says whether the status says that all is well, and it is.
func (b *Books) well() bool {
	if !b.status.isInstalled || b.status.reason != v1.ReasonSucceeded {
		return false
	}
	for _, r := range b.records {
		if r.status == "deployed" && r.version == b.status.installed {
			return true
		}
	}
	return false
}

// attempted counts a reconcile that wrote an object of the bundle, or began a record.
func (b *Books) attempted(e *history.Event) {
	if key := e.Actor() + e.Reconcile; e.Reconcile != "" && !b.tries[key] {
		b.tries[key] = true
		b.attempts++
		b.recent++
	}
}

// change takes in one change of one object.
func (b *Books) change(e *history.Event, c *history.Change) {
	switch {
	case c.Ref.Kind == v1.ClusterExtensionKind:
		b.readStatus(e, c)
	case c.Ref.Kind == "Secret" && c.Ref.Namespace == clusterextension.DefaultNamespace:
		b.readRecord(e, c)
	default:
		b.readObject(e, c)
	}
}

func (b *Books) readObject(e *history.Event, c *history.Change) {
	var o metav1.PartialObjectMetadata
	mustDecode(c, &o)
	if o.Labels[v1.OwnerNameLabel] != app {
		return
	}
	byOperator := e.Reconcile != ""
	if byOperator && c.Ref.Kind == "CustomResourceDefinition" && e.Verb == "delete" {
		b.breaks(userData, "at %s it deletes %s, and with it what users have made of that kind", history.Clock(e.At), c.Ref)
	}
	if c.Type == "DELETED" {
		delete(b.objects, c.Ref)
		return
	}
	version := o.Annotations[versionKey]
	was := b.objects[c.Ref]
	b.objects[c.Ref] = object{version, c.Ref.Name}
	if byOperator {
		b.attempted(e)
		b.judgeLost(e, c)
	}
	if !byOperator || version == "" || was.version == version {
		return
	}
	b.judgeWrite(e, c.Ref, version)
	if version > b.newest {
		b.newest = version
	}
	if b.whole[version] = b.whole[version] || b.complete(version); !b.deployed[version] {
		b.begun = version
	}
}

// complete says whether every object of a version is there.
func (b *Books) complete(version string) bool {
	n := 0
	for _, o := range b.objects {
		if o.version == version {
			n++
		}
	}
	return n == map[string]int{one: 2, two: 3, refused: 4, three: 2}[version]
}

func (b *Books) readRecord(e *history.Event, c *history.Change) {
	var s corev1.Secret
	mustDecode(c, &s)
	if s.Labels["type"] != "index" || s.Labels["name"] != app {
		return
	}
	was := b.records[s.Name]
	b.judgeTouch(e, c, was)
	if c.Type == "DELETED" {
		delete(b.records, s.Name)
		return
	}
	if c.Type == "ADDED" {
		b.attempted(e)
	}
	revision, err := strconv.Atoi(s.Labels["version"])
	if err != nil {
		panic(fmt.Sprintf("the revision of record %s: %v", s.Name, err))
	}
	r := &record{revision, s.Labels["status"], s.Annotations[v1.BundleVersionKey], e.Actor(), e.Reconcile, e.At}
	if was != nil && was.status == r.status {
		r.at = was.at
	}
	b.records[s.Name] = r
	if r.status == "deployed" {
		b.deployed[r.version] = true
		if b.begun == r.version {
			b.begun = ""
		}
	}
	b.judgeRecords(e, r, was)
}

func (b *Books) readStatus(e *history.Event, c *history.Change) {
	var ext v1.ClusterExtension
	mustDecode(c, &ext)
	if c.Type == "DELETED" {
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

// told is for how long in a span the status said what it should.
func (b *Books) told(from, to time.Duration, holds func(said) bool) (d time.Duration) {
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
func (b *Books) versions() (out []string) {
	for _, o := range b.objects {
		if o.version != "" && !slices.Contains(out, o.version) {
			out = append(out, o.version)
		}
	}
	slices.Sort(out)
	return out
}

// mustDecode decodes what the API server stored. It cannot fail on a schema that holds.
func mustDecode(c *history.Change, into any) {
	if err := json.Unmarshal(c.Object, into); err != nil {
		panic(fmt.Sprintf("the stored %s cannot be decoded: %v", c.Ref, err))
	}
}
