// This file holds the properties. Most of them are judged as the history is read, at the write that
// breaks them.

package clusterextension

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/history/view"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
	"github.com/wavetank/wavetank/sim/property"
)

// The names of the properties.
const (
	finishFirst  = "what was begun is finished before anything else is applied"
	validEdges   = "every applied version has an edge from all versions that are there"
	forwards     = "nothing older is written after something newer"
	together     = "what needs all data at one level finds it so"
	saneRecords  = "there is one deployed record at most, ten in all, and revisions rise"
	keepsRecords = "no record is deleted while there are fewer than ten"
	noOrphans    = "what is there is what the deployed record says"
	onlyChanges  = "an object that is as it should be is not written"
	userData     = "no recovery deletes a CRD"
	fenced       = fence.Property
	progress     = "after an interruption it takes three attempts and two periods of back-off at most"
	fewAttempts  = "interruptions cost one attempt each"
	actionable   = "while there is no progress the status says what was interrupted"
	perpetual    = "however often it is interrupted the status says so"
	unmasked     = "a failure is reported although it was interrupted"
	installTruth = "the status never names what is not wholly there"
	healthTruth  = "the status calls nothing done that is not healthy"
	settles      = "when faults have ended, each period of back-off has one attempt"
	nothingLeft  = "nothing is left of a deleted extension"
	finished     = "what was begun is deployed in the end"
	installed    = "the extension is installed in the end"
)

const (
	// maxAttempts and maxTimers are the attempts and the periods of back-off that a recovery may
	// take.
	maxAttempts, maxTimers = 3, 2
	// maxRecords limits the release records.
	maxRecords = 10
	// many is after how many interruptions in a row the status must report them all the time.
	many = 5
	// share is the share of the time in which the status must report the reason. It is judged after
	// stalled without progress, and after longRow while all attempts are interrupted.
	share, stalled, longRow = 0.95, 5 * time.Second, 30 * time.Minute
)

// interrupted matches the report of an interruption. The fixed variant counts them from the second
// one on.
var interrupted, counted = regexp.MustCompile(`interrupted`), regexp.MustCompile(`interrupted \d+ times`)

// declare declares properties. Those whose judge is nil are judged while the history is read.
func (s *World) declare(sentences ...string) {
	properties.Set{Read: s.read, Broken: s.Broken, Always: map[string]properties.Judge{
		together: s.data.AtOneLevel, saneRecords: fewRecords(), progress: s.recovered, fewAttempts: s.recovered,
		actionable: s.actionable, perpetual: s.perpetual, settles: s.settles(),
		fenced: nil, finishFirst: nil, validEdges: nil, forwards: nil, keepsRecords: nil, userData: nil,
		onlyChanges: nil, unmasked: nil, installTruth: nil, healthTruth: nil,
	}, Eventually: map[string]properties.Judge{
		installed: s.installed, finished: s.finished, noOrphans: s.noOrphans, nothingLeft: s.nothingLeft,
	}}.Declare(s.World, sentences...)
}

// judgeWrite (S1-S1 to S1-S3) is called when the operator writes an object with the content of a
// version, even if the object had that content before, as in a repair. The other argument lists the
// versions of which there were objects before.
func (b *Record) judgeWrite(at history.Time, ref history.Ref, version string, before []string) {
	if b.begun != "" && b.begun != version && !b.override {
		b.breaks(finishFirst, at, " %s is written as in version %s, and version %s was begun and is not whole", ref,
			version, b.begun)
	}
	if version < b.newest {
		b.breaks(forwards, at, " %s is written as in version %s, after something of version %s", ref, version, b.newest)
	}
	for _, there := range before {
		if there != version && !slices.Contains(b.Setting.edgesTo(version), there) && !b.override {
			b.breaks(validEdges, at, " %s is written as in version %s, to which there is no edge from version %s, "+
				"of which something is there", ref, version, there)
		}
	}
}

// judgeIdle is called when a request of the operator has succeeded without a change. It is a
// violation to write an object of the bundle that is as it should be.
func (b *Record) judgeIdle(e *history.Event) {
	writes := e.Verb == "update" || e.Verb == "patch"
	if writes && slices.Contains([]string{"ConfigMap", "Deployment", "CustomResourceDefinition"}, e.Ref.Kind) {
		b.breaks(onlyChanges, e.At, " there is a request to %s %s, and it changes nothing", e.Verb, e.Ref)
	}
}

// judgeRecords (S1-S5) counts the records. A deleted record's revision may not be used again.
func (b *Record) judgeRecords(at history.Time, made bool, revision int) {
	if made && revision <= b.revision {
		b.breaks(saneRecords, at, " revision %d is made, and there was a revision %d before", revision, b.revision)
	}
	b.revision = max(b.revision, revision)
	if deployed := count(b.records(), func(r *record) bool { return r.status == "deployed" }); deployed > 1 {
		b.breaks(saneRecords, at, " %d records are deployed", deployed)
	}
}

// fewRecords (S1-S5) limits the records that are kept.
func fewRecords() func(*history.History) error {
	return property.BoundedRecords(recordKinds, maxRecords, func(o history.Object) string {
		var s corev1.Secret
		if err := o.Into(&s); err != nil || s.Labels["type"] != "index" || s.Labels["name"] != app {
			return ""
		}
		return "the extension " + app
	})
}

// judgeStatus (S1-A3) is called when the status is written. It may name only a version that was
// complete at some moment. During an upgrade it still names the version before.
func (b *Record) judgeStatus(at history.Time, r *view.Reconcile) {
	now := b.status
	if now.installed != "" && !b.whole[now.installed] {
		b.breaks(installTruth, at, " the status says that version %s is installed, "+
			"and it has never been there as a whole and healthy", now.installed)
	}
	if is := b.deployed(); is != nil && now.reason == v1.ReasonSucceeded && !b.healthy(is.version) {
		b.breaks(healthTruth, at, " the status says %s, and version %s is not healthy", now, is.version)
	}
	if r != nil {
		b.judgeEmpty(at, r.Began)
	}
}

// judgeEmpty (S1-A3) is also called when a reconcile ends. The status must name a version that was
// deployed and healthy before the reconcile began.
func (b *Record) judgeEmpty(at, began history.Time) {
	if b.status.installed == "" && b.sound != nil && b.soundSince < began {
		b.breaks(installTruth, at, " the status says that nothing is installed, "+
			"and a record says that version %s is deployed", b.sound.version)
	}
}

// judgeProgress counts the attempts of a recovery (S1-L1), and those of all recoveries (S1-L2).
func (b *Record) judgeProgress(at history.Time) {
	last := &b.last
	if b.interruptions > 0 && !last.quiet && (last.attempts > maxAttempts || last.timers > maxTimers) {
		for _, sentence := range []string{progress, fewAttempts} {
			b.breaks(sentence, at, ", %v after the interruption, there have been %d attempts and %d periods of "+
				"back-off, and the status says %s", (at - last.at).Round(time.Second), last.attempts, last.timers,
				b.status)
		}
	}
	if interruptions := b.interruptions + b.tooLong; b.attempts > interruptions+maxAttempts {
		b.breaks(fewAttempts, at, " there have been %d attempts, and %d interruptions", b.attempts, interruptions)
	}
}

// recovered (S1-L1 and S1-L2) holds if the version is installed in the end.
func (b *Record) recovered(h *history.History) error {
	if !b.over || b.interruptions == 0 || b.well() {
		return nil
	}
	return fmt.Errorf("in the end, %v after the interruption, the status says %s",
		(h.Now() - b.last.at).Round(time.Second), b.status)
}

// judgeMask (S1-A2): the status names the cause of which the first attempt after an interruption
// fails. Without an attempt it must do so after two periods of back-off.
func (b *Record) judgeMask(at history.Time) {
	if b.failing && b.interruptions > 0 && !b.well() && (b.last.ended > 0 || b.last.timers > maxTimers) &&
		!strings.Contains(b.status.message, cause) {
		b.breaks(unmasked, at, ", after %d attempts since the interruption, "+
			"the status does not name the cause; it says %s", b.last.ended, b.status)
	}
}

// actionable (S1-A1): while there is no progress after an interruption, the status names the bundle
// for 95 % of the time, and reports that it was interrupted, or the cause of a failure since. The
// time begins when the first reconcile since has ended. To wait for health is progress.
func (b *Record) actionable(h *history.History) error {
	last, now := &b.last, h.Now()
	if b.interruptions == 0 || last.quiet || b.well() || !last.broke || b.begun != last.subject || last.back == 0 ||
		now < last.back+stalled {
		return nil
	}
	if r := b.deployed(); r != nil && r.version == b.begun {
		return nil // it is not interrupted any more, and not healthy yet
	}
	what := "interrupted"
	if last.ended > 0 && b.failing {
		what = cause
	}
	if reported, enough := b.saidFor(last.back, now, func(s said) bool {
		return s.reason == v1.ReasonSucceeded || strings.Contains(s.message, what) &&
			strings.Contains(s.message, bundleName(b.begun))
	}); !enough {
		return fmt.Errorf("in the %v since %s the status said for %v of what %s %q; it says %s", now-last.back,
			history.Clock(last.back), reported, bundleName(b.begun), what, b.status)
	}
	return nil
}

// perpetual (S1-L3): once five attempts in a row were interrupted, the status reports that for 95 %
// of the time, as long as all attempts are interrupted.
func (b *Record) perpetual(h *history.History) error {
	from, now := b.fifth, h.Now()
	if from == 0 || now < from+longRow {
		return nil
	}
	says := interrupted
	if b.Setting.Variant == clusterextension.V6 {
		says = counted
	}
	if reported, enough := b.saidFor(from, now, func(s said) bool { return says.MatchString(s.message) }); !enough {
		return fmt.Errorf("in the %v since the fifth of %d interruptions at %s the status said so for %v; it says %s",
			now-from, b.row, history.Clock(from), reported, b.status)
	}
	return nil
}

// installed holds if the status reports success and a record agrees.
func (b *Record) installed(*history.History) error {
	if b.well() {
		return nil
	}
	return fmt.Errorf("%s", b.status)
}

// finished holds if no version is begun and not deployed.
func (b *Record) finished(*history.History) error {
	if b.begun == "" {
		return nil
	}
	return fmt.Errorf("version %s was begun and is not deployed; the status says %s", b.begun, b.status)
}

// noOrphans (S1-S6): when the status reports success, the objects with the owner's label are those
// of the deployed record's manifest, and as it describes them.
func (b *Record) noOrphans(*history.History) error {
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
	objects := b.objects()
	for _, o := range objects {
		should, known := manifest[o.Ref]
		var is unstructured.Unstructured
		if !known || is.UnmarshalJSON(o.Latest().JSON) != nil || !equality.Semantic.DeepDerivative(should, is.Object) {
			return fmt.Errorf("version %s is deployed, and %s is not as its record says", r.version, o.Ref)
		}
	}
	if len(objects) != len(manifest) {
		return fmt.Errorf("version %s is deployed with %d objects, and there are %d, of %v", r.version, len(manifest),
			len(objects), b.versions(nil))
	}
	return nil
}

// nothingLeft holds if there are no objects and no records.
func (b *Record) nothingLeft(*history.History) error {
	objects, records := len(b.objects()), len(b.records())
	if objects+records > 0 {
		return fmt.Errorf("%d objects and %d release records are left", objects, records)
	}
	return nil
}
