// This file exists for the properties. Most of them are judged as the history is read, at the write
// that breaks them.

package clusterextension

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/property"
)

// The sentences under which the properties are declared.
const (
	finishFirst  = "what was begun is finished before anything else is applied"
	validEdges   = "every applied version has an edge from all versions that are there"
	forwards     = "nothing older is written after something newer"
	together     = "what needs all data at one level finds it so"
	saneRecords  = "there is one deployed record at most, ten in all, and revisions rise"
	keepsRecords = "no record is deleted while there are fewer than ten"
	noOrphans    = "what is there is what the deployed record says"
	userData     = "no recovery deletes a CRD"
	fenced       = "of two processes only one goes on with what was begun"
	progress     = "after an interruption it takes three attempts and two periods of back-off at most"
	fewAttempts  = "interruptions cost one attempt each"
	actionable   = "while there is no progress the status says what was interrupted"
	perpetual    = "however often it is interrupted the status says so"
	unmasked     = "a failure is reported although it was interrupted"
	installTruth = "the status never names what is not wholly there"
	healthTruth  = "the status calls nothing done that is not healthy"
	restrained   = "while faults last, a period of back-off has one attempt more than faults at most"
	settles      = "when faults have ended, each period of back-off has one attempt"
	nothingLeft  = "nothing is left of a deleted extension"
	finished     = "what was begun is deployed in the end"
	installed    = "the extension is installed in the end"
)

const (
	// mostAttempts and mostTimers are what a recovery may take.
	mostAttempts, mostTimers = 3, 2
	// mostRecords is how many release records may be kept.
	mostRecords = 10
	// many interruptions in a row are enough for the status to say so for the rest of the time.
	many = 5
	// share is for how much of the time the status must say what it should; without progress for so
	// long, and while it is interrupted again and again, for so long.
	share, stalled, longRow = 0.95, 5 * time.Second, 30 * time.Minute
	// soon is how long a watch event takes without a fault, at most.
	soon = 100 * time.Millisecond
)

// counted is how the fixed variant says that it was interrupted, once it has been more than once.
var counted = regexp.MustCompile(`interrupted \d+ times`)

// Holds is a property that is judged as the history is read.
func (b *Record) Holds(sentence string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		switch broken := b.broken[sentence]; {
		case sentence == fenced: // S1-S8
			return b.fence.Broken()
		case sentence == saneRecords && broken == nil:
			return b.bounded(h)
		case broken == nil && b.over && (sentence == progress || sentence == fewAttempts) && b.interruptions > 0 &&
			!b.well():
			return fmt.Errorf("in the end, %v after the interruption, the status says %s",
				(h.Now() - b.since).Round(time.Second), b.status)
		default:
			return broken
		}
	}
}

// judgeWrite (S1-S1 to S1-S3) is asked when the operator writes an object with the content of a
// version, whether or not it had that before: a repair is such a write. Before are the versions of
// which anything was there.
func (b *Record) judgeWrite(e *history.Event, ref history.Ref, version string, before []string) {
	at := history.Clock(e.At)
	if b.begun != "" && b.begun != version && !b.override {
		b.breaks(finishFirst, "at %s %s is written as in version %s, and version %s was begun and is not whole", at,
			ref, version, b.begun)
	}
	if version < b.newest {
		b.breaks(forwards, "at %s %s is written as in version %s, after something of version %s", at, ref, version,
			b.newest)
	}
	for _, there := range before {
		if there != version && !slices.Contains(b.edges[bundleName(version)], bundleName(there)) && !b.override {
			b.breaks(validEdges, "at %s %s is written as in version %s, to which there is no edge from version %s, "+
				"of which something is there", at, ref, version, there)
		}
	}
}

// judgeRecords (S1-S5) counts. A number that a deleted record had is not given again.
func (b *Record) judgeRecords(e *history.Event, made bool, now *record) {
	if made && now.revision <= b.revision {
		b.breaks(saneRecords, "at %s revision %d is made, and there was a revision %d before", history.Clock(e.At),
			now.revision, b.revision)
	}
	b.revision = max(b.revision, now.revision)
	deployed := 0
	for r := range b.records() {
		if r.status == "deployed" {
			deployed++
		}
	}
	if deployed > 1 {
		b.breaks(saneRecords, "at %s %d records are deployed", history.Clock(e.At), deployed)
	}
}

// fewRecords (S1-S5) counts those that are kept.
func fewRecords() func(*history.History) error {
	return property.BoundedRecords(recordKinds, mostRecords, func(o history.Object) string {
		var s corev1.Secret
		if err := o.Into(&s); err != nil || s.Labels["type"] != "index" || s.Labels["name"] != app {
			return ""
		}
		return "the extension " + app
	})
}

// judgeStatus (S1-A3) is asked when the status is written. It names what has been there as a whole:
// while a version makes way for the next it still names the one before, which then no longer is.
func (b *Record) judgeStatus(e *history.Event) {
	now := b.status
	if now.installed != "" && !b.whole[now.installed] {
		b.breaks(installTruth, "at %s the status says that version %s is installed, "+
			"and it has never been there as a whole and healthy", history.Clock(e.At), now.installed)
	}
	if r := b.deployed(); r != nil && now.reason == v1.ReasonSucceeded {
		if _, healthy := b.healthySince(r.version); !healthy {
			b.breaks(healthTruth, "at %s the status says %s, and version %s is not healthy", history.Clock(e.At), now,
				r.version)
		}
	}
	if r := b.view.Of(e); r != nil {
		b.judgeEmpty(e.At, r.Began)
	}
}

// judgeEmpty (S1-A3) is asked too when a dequeue ends: what was deployed and healthy before it
// began the status must know now.
func (b *Record) judgeEmpty(at, began history.Time) {
	r := b.deployed()
	if r == nil || b.status.installed != "" || r.since() >= began {
		return
	}
	if since, healthy := b.healthySince(r.version); healthy && (since == 0 || since < began) {
		b.breaks(installTruth, "at %s the status says that nothing is installed, "+
			"and a record says that version %s is deployed", history.Clock(at), r.version)
	}
}

// judgeProgress counts what a recovery takes (S1-L1), and what all of them take together (S1-L2),
// each of which must arrive too.
func (b *Record) judgeProgress(at history.Time) {
	if b.interruptions > 0 && !b.quiet && (b.recent > mostAttempts || b.timers > mostTimers) {
		for _, sentence := range []string{progress, fewAttempts} {
			b.breaks(sentence, "at %s, %v after the interruption, there have been %d attempts and %d periods of "+
				"back-off, and the status says %s", history.Clock(at),
				(at - b.since).Round(time.Second), b.recent, b.timers, b.status)
		}
	}
	if interruptions := b.interruptions + b.tooLong; b.attempts > interruptions+mostAttempts {
		b.breaks(fewAttempts, "at %s there have been %d attempts, and %d interruptions", history.Clock(at), b.attempts,
			interruptions)
	}
}

// judgeMask (S1-A2): what the first attempt after an interruption fails of, the status says. Who
// makes none has two periods of back-off.
func (b *Record) judgeMask(at history.Time) {
	if b.failing && b.interruptions > 0 && !b.well() && (b.ended > 0 || b.timers > mostTimers) &&
		!strings.Contains(b.status.message, cause) {
		b.breaks(unmasked, "at %s, after %d attempts since the interruption, "+
			"the status does not name the cause; it says %s", history.Clock(at), b.ended, b.status)
	}
}

// String is what the status says, for people.
func (s said) String() string {
	return fmt.Sprintf("installed %q, %s: %s", s.installed, s.reason, s.message)
}

// Actionable (S1-A1): while there is no progress after an interruption, from the first dequeue
// that has ended since, for 95 % of the time the status names the bundle and says that it was
// interrupted; or of what it has failed since. To wait until it is healthy is progress.
func (b *Record) Actionable(h *history.History) error {
	b.read(h)
	from, now := b.back, h.Now()
	if b.interruptions == 0 || b.quiet || b.well() || !b.broke || b.begun != b.subject || from == 0 ||
		now < from+stalled {
		return nil
	}
	if r := b.deployed(); r != nil && r.version == b.begun {
		return nil // it is not interrupted any more, and not healthy yet
	}
	what := "interrupted"
	if b.ended > 0 && b.failing {
		what = cause
	}
	reported := b.saidFor(from, now, func(s said) bool {
		return s.reason == v1.ReasonSucceeded || strings.Contains(s.message, what) &&
			strings.Contains(s.message, bundleName(b.begun))
	})
	if reported < time.Duration(share*float64(now-from)) {
		return fmt.Errorf("in the %v since %s the status said for %v of what %s %q; it says %s", now-from,
			history.Clock(from), reported, bundleName(b.begun), what, b.status)
	}
	return nil
}

// Perpetual (S1-L3): once five attempts in a row were interrupted, and as long as all are, the
// status says so for 95 % of the time.
func (b *Record) Perpetual(h *history.History) error {
	b.read(h)
	from, now := b.fifth, h.Now()
	if from == 0 || now < from+longRow {
		return nil
	}
	reported := b.saidFor(from, now, func(s said) bool {
		return strings.Contains(s.message, "interrupted") && (!b.counts || counted.MatchString(s.message))
	})
	if reported < time.Duration(share*float64(now-from)) {
		return fmt.Errorf("in the %v since the fifth of %d interruptions at %s the status said so for %v; it says %s",
			now-from, b.row, history.Clock(from), reported, b.status)
	}
	return nil
}

// Installed holds when the status says that all is well, and a record agrees.
func (b *Record) Installed(h *history.History) error {
	b.read(h)
	if b.well() {
		return nil
	}
	return fmt.Errorf("%s", b.status)
}

// Finished holds when no version is begun and not deployed.
func (b *Record) Finished(h *history.History) error {
	b.read(h)
	if b.begun != "" {
		return fmt.Errorf("version %s was begun and is not deployed; the status says %s", b.begun, b.status)
	}
	return nil
}

// NoOrphans (S1-S6): once nothing more is tried, the objects that say whose they are, are those of
// the deployed record's manifest, with all that it says of them.
func (b *Record) NoOrphans(h *history.History) error {
	b.read(h)
	if b.status.reason != v1.ReasonSucceeded {
		return nil
	}
	r := b.deployed()
	if r == nil {
		return fmt.Errorf("nothing more is tried, and no record says what is deployed")
	}
	manifest, err := b.manifest(r)
	if err != nil {
		return err
	}
	there := 0
	for o := range b.objects() {
		there++
		should, known := manifest[o.Ref]
		var is unstructured.Unstructured
		if !known || is.UnmarshalJSON(o.Latest().JSON) != nil || !contains(is.Object, should) {
			return fmt.Errorf("version %s is deployed, and %s is not as its record says", r.version, o.Ref)
		}
	}
	if there != len(manifest) {
		return fmt.Errorf("version %s is deployed with %d objects, and there are %d, of %v", r.version, len(manifest),
			there, b.versions(nil))
	}
	return nil
}

// NothingLeft holds when neither objects nor records are there.
func (b *Record) NothingLeft(h *history.History) error {
	b.read(h)
	objects, records := slices.Collect(b.objects()), slices.Collect(b.records())
	if len(objects)+len(records) > 0 {
		return fmt.Errorf("%d objects and %d release records are left", len(objects), len(records))
	}
	return nil
}
