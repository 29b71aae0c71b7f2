// This file reads a history, event by event: what was written of which version, what the release
// records and the status contained meanwhile, and which process was at work.

package clusterextension

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
)

// Record is what the properties need of one run's history. All of it is about the extension app.
type Record struct {
	// Setting of the world.
	Setting Setting

	right        string       // the version that should be installed; "" if several may be right
	failing      bool         // the server refuses that version, because of the cause
	over         bool         // everything has happened, and the world has settled
	measuredFrom history.Time // when the effects of faults have ended

	view       *view.View
	all        *view.Track[object]
	secrets    *view.Track[corev1.Secret]
	extensions *view.Track[v1.ClusterExtension]
	fence      *fence.Judge

	override bool // the user allows every change of version
	deleted  bool // the user has deleted the extension
	revision int  // the highest that any record has had
	status   said

	// begun is the version of which an object was written, and that is not deployed and healthy. It
	// is "" if there is none.
	begun  string
	newest string          // the highest version of which an object was written
	whole  map[string]bool // versions that were complete and healthy at some moment

	// sound is the deployed record while its version is healthy, which it is since soundSince.
	sound      *record
	soundSince history.Time

	interruptions, attempts int
	tooLong                 int // attempts that the operator's own time limit ended
	tries                   map[*view.Reconcile]bool
	last                    interruption
	row                     int          // attempts in a row that were interrupted
	fifth                   history.Time // when the fifth of them was
	properties.Broken
}

// interruption is the last interruption with the events since.
type interruption struct {
	at      history.Time
	subject string       // the version that was begun then
	broke   bool         // an attempt was under way then
	quiet   bool         // the extension has been installed since
	back    history.Time // the end of the first dequeue after it; 0 if there was none yet
	// attempts since; ended are those that have ended
	attempts, ended int
	timers          int // of the back-off
}

func newRecord(t Setting) *Record {
	v, broken := view.New(), properties.Broken{}
	return &Record{Setting: t, view: v, all: view.Follow[object](v, history.Ref{}),
		secrets:    view.Follow[corev1.Secret](v, recordKinds),
		extensions: view.Follow[v1.ClusterExtension](v, extensionRef),
		whole:      map[string]bool{}, fence: fence.New(broken),
		tries: map[*view.Reconcile]bool{}, Broken: broken,
		last: interruption{quiet: true}}
}

// breaks keeps the first violation of a property. The format continues after the time.
func (b *Record) breaks(sentence string, at history.Time, format string, args ...any) {
	b.Breaks(sentence, "at %s%s", history.Clock(at), fmt.Sprintf(format, args...))
}

// read reads the events since the last call.
func (b *Record) read(h *history.History) {
	for e := range b.view.New(h) {
		b.fence.Event(e)
		r := b.view.Of(e)
		switch {
		case e.Kind == history.Crash:
			b.crashed(e)
		case e.Kind == history.Fault && r != nil:
			b.injures(e, r)
		case e.Kind == history.Request && r != nil && e.Code < http.StatusBadRequest && len(e.Changes) == 0:
			b.judgeIdle(e)
		case e.Kind == history.Dequeue:
			if r.BackOff {
				b.last.timers++
			}
			b.judgeProgress(e.At)
		case e.Kind == history.Done:
			b.done(e, r)
		}
		for i := range e.Changes {
			b.change(e, &e.Changes[i], r)
		}
		if len(e.Changes) > 0 {
			b.arrives(e.At)
		}
	}
}

// crashed reads a crash of the operator, which ends its reconciles.
func (b *Record) crashed(e *history.Event) {
	if slices.ContainsFunc(b.view.Reconciles(), func(r *view.Reconcile) bool {
		return r.Killed && r.Process == e.Process && r.Incarnation == e.Incarnation && b.tries[r]
	}) {
		b.row++
	}
	if b.row == many && b.fifth == 0 {
		b.fifth = e.At
	}
	b.interrupted(e.At)
}

// injures reads a fault other than a crash that ends an attempt. A kill just before a write of an
// object also counts as one.
func (b *Record) injures(e *history.Event, r *view.Reconcile) {
	switch in := e.Injection; {
	case in.Is("ServerError"), in.Is("LostReply"):
		b.interrupted(e.At)
	case in.Is("Crash") && in.How == "before" && (in.Ref.Kind == "ConfigMap" || in.Ref.Kind == "Deployment"):
		b.attempted(r)
	}
}

func (b *Record) interrupted(at history.Time) {
	b.interruptions++
	b.last = interruption{at: at, subject: b.begun, broke: b.begun != ""}
	for _, r := range b.records() {
		b.last.broke = b.last.broke || strings.HasPrefix(r.status, "pending") || r.status == "uninstalling"
	}
}

func (b *Record) done(e *history.Event, r *view.Reconcile) {
	if b.last.back == 0 {
		b.last.back = e.At
	}
	if b.tries[r] {
		if strings.Contains(r.Outcome.Text, "the time for this attempt is over") {
			b.tooLong++
		}
		b.row, b.fifth = 0, 0
		if r.Began > b.last.at {
			b.last.ended++
		}
	}
	if b.well() {
		b.last.quiet, b.row, b.fifth = true, 0, 0
	}
	b.judgeProgress(e.At)
	b.judgeEmpty(e.At, r.Began)
	b.judgeMask(e.At)
}

// well reports whether the status reports success, and a record of the right version agrees.
func (b *Record) well() bool {
	r := b.deployed()
	return b.status.isInstalled && b.status.reason == v1.ReasonSucceeded && r != nil &&
		r.version == b.status.installed && (b.right == "" || b.right == r.version)
}

// attempted counts a reconcile that wrote an object of the bundle, or began a record.
func (b *Record) attempted(r *view.Reconcile) {
	if r != nil && !b.tries[r] {
		b.tries[r] = true
		b.attempts++
		b.last.attempts++
	}
}

// change reads a change of an object, by a reconcile if r is not nil.
func (b *Record) change(e *history.Event, c *history.Change, r *view.Reconcile) {
	switch o := b.all.ByUID(c.UID); {
	case c.Ref == extensionRef:
		b.readExtension(e, c, r)
	case c.Ref.Kind == recordKinds.Kind && c.Ref.Namespace == recordKinds.Namespace:
		b.readRecord(e, c, r)
	case o.Value().Metadata.Labels[v1.OwnerNameLabel] == app:
		b.readObject(e, c, r, o)
	}
}

func (b *Record) readObject(e *history.Event, c *history.Change, r *view.Reconcile, o *view.Object[object]) {
	if c.Ref.Kind == "CustomResourceDefinition" && !b.deleted &&
		(c.Type == "DELETED" || o.Value().Metadata.DeletionTimestamp != nil) {
		b.breaks(userData, e.At, " %s is deleted, and with it what users have made of that kind", c.Ref)
	}
	version := o.Value().version()
	if c.Type != "DELETED" && r != nil {
		b.attempted(r)
		b.fence.Object(e, c)
		if version != "" {
			b.judgeWrite(e.At, c.Ref, version, b.versions(o))
			b.newest = max(b.newest, version)
			if now := b.deployed(); now == nil || now.version != version {
				b.begun = version
			}
		}
	}
	b.whole[version] = b.whole[version] || b.complete(version)
}

// arrives clears begun if that version is deployed and healthy, or has no objects any more.
func (b *Record) arrives(at history.Time) {
	r := b.deployed()
	if r == nil || !b.healthy(r.version) {
		b.sound = nil
	} else if b.sound == nil || b.sound.secret != r.secret {
		b.sound, b.soundSince = r, at
	}
	if b.sound != nil && b.sound.version == b.begun || !slices.Contains(b.versions(nil), b.begun) {
		b.begun = ""
	}
}

func (b *Record) readRecord(e *history.Event, c *history.Change, r *view.Reconcile) {
	o := b.secrets.ByUID(c.UID)
	name := o.Value().Labels["key"] // of the index, for chunks too
	now := recordOf(o)
	if now == nil {
		b.fence.Record(e, c, name, nil)
		return
	}
	b.fence.Record(e, c, name, o.Value())
	if c.Type == "DELETED" {
		left := len(b.records())
		if left+1 < maxRecords && !b.deleted {
			b.breaks(keepsRecords, e.At, " %s is deleted, one of %d records", c.Ref, left+1)
		}
		if left == 0 {
			b.revision = 0
		}
		return
	}
	if c.Type == "ADDED" {
		b.attempted(r)
	}
	b.judgeRecords(e.At, c.Type == "ADDED", now.revision)
}

func (b *Record) readExtension(e *history.Event, c *history.Change, r *view.Reconcile) {
	ext := b.extensions.ByUID(c.UID).Value()
	b.deleted = c.Type == "DELETED" || ext.DeletionTimestamp != nil
	b.override = ext.Spec.Source.Catalog.UpgradeConstraintPolicy == v1.PolicySelfCertified
	if b.deleted {
		return
	}
	b.status = saidBy(ext)
	if e.Sub == "status" {
		b.judgeStatus(e.At, r)
	}
}
