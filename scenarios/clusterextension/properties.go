// This file exists for the properties. Most of them are judged as the history is read, at the write that breaks them.

package clusterextension

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/sim/history"
)

// The sentences under which the properties are declared.
const (
	finishFirst  = "what was begun is finished before anything else is applied"
	validEdges   = "every applied version has an edge from all versions that are there"
	forwards     = "nothing older is written after something newer"
	together     = "what needs all data at one level finds it so"
	saneRecords  = "there is one deployed record at most, ten in all, and revisions rise"
	noOrphans    = "what is there is what the deployed record says"
	userData     = "no recovery deletes a CRD"
	fenced       = "of two processes only one goes on with what was begun"
	progress     = "after an interruption it takes three attempts and two periods of back-off at most"
	fewAttempts  = "interruptions cost one attempt each"
	actionable   = "while there is no progress the status says what was interrupted"
	perpetual    = "however often it is interrupted the status says so"
	unmasked     = "a failure is reported although it was interrupted"
	installTruth = "the status never names what is not wholly there"
	nothingLeft  = "nothing is left of a deleted extension"
	finished     = "what was begun is deployed in the end"
	installed    = "the extension is installed in the end"
)

const (
	// mostAttempts and mostTimers are what a recovery may take.
	mostAttempts, mostTimers = 3, 2
	// mostRecords is how many release records may be kept.
	mostRecords = 10
	// many interruptions are enough for the status to say so for the rest of the time.
	many = 5
	// soon is how long after a restart the status need not say anything yet.
	soon = 3 * time.Minute
)

// Holds is a property that is judged as the history is read.
func (b *Books) Holds(sentence string) func(*history.History) error {
	return func(h *history.History) error {
		b.read(h)
		return b.broken[sentence]
	}
}

// judgeWrite is asked when the operator writes an object with the content of another version (S1-S1 to S1-S3).
func (b *Books) judgeWrite(e *history.Event, ref history.Ref, version string) {
	at := history.Clock(e.At)
	if b.begun != "" && b.begun != version && !b.override {
		b.breaks(finishFirst, "at %s %s is written as in version %s, and version %s was begun and not deployed", at, ref, version, b.begun)
	}
	if version < b.newest {
		b.breaks(forwards, "at %s %s is written as in version %s, after something of version %s", at, ref, version, b.newest)
		return
	}
	for _, there := range b.versions() {
		if there < version && !slices.Contains(b.edges[bundleName(version)], bundleName(there)) && !b.override {
			b.breaks(validEdges, "at %s %s is written as in version %s, to which there is no edge from version %s, of which something is there", at, ref, version, there)
		}
	}
}

// judgeRecords (S1-S5) counts.
func (b *Books) judgeRecords(e *history.Event, now, was *record) {
	deployed := 0
	for _, r := range b.records {
		if r.status == "deployed" {
			deployed++
		}
		if was == nil && r != now && r.revision >= now.revision {
			b.breaks(saneRecords, "at %s revision %d is made, after revision %d", history.Clock(e.At), now.revision, r.revision)
		}
	}
	if deployed > 1 || len(b.records) > mostRecords {
		b.breaks(saneRecords, "at %s there are %d records, %d of them deployed", history.Clock(e.At), len(b.records), deployed)
	}
}

// judgeTouch is asked when a record is changed or deleted. Whoever is still at it, while it is pending, has lost it.
func (b *Books) judgeTouch(e *history.Event, c *history.Change, was *record) {
	if was == nil || e.Reconcile == "" {
		return
	}
	b.judgeLost(e, c)
	if strings.HasPrefix(was.status, "pending-") && was.process != e.Actor() && b.busy[was.process].reconcile == was.during {
		b.lost[was.process+" "+was.during] = fmt.Sprintf("%s, who at %s touched %s, which was pending", e.Actor(), history.Clock(e.At), c.Ref)
	}
}

// judgeLost (S1-S8) is asked at each write of an object or a record: nobody goes on with what he has lost.
func (b *Books) judgeLost(e *history.Event, c *history.Change) {
	if by := b.lost[e.Actor()+" "+e.Reconcile]; by != "" {
		b.breaks(fenced, "at %s %s writes %s, and so does %s", history.Clock(e.At), e.Actor(), c.Ref, by)
	}
}

// judgeStatus (S1-A3) is asked when the status is written.
func (b *Books) judgeStatus(e *history.Event, now said) {
	if now.installed != "" && !b.whole[now.installed] {
		b.breaks(installTruth, "at %s the status says that version %s is installed, and it has never been there as a whole", history.Clock(e.At), now.installed)
	}
	for _, r := range b.records {
		if hand, ok := b.busy[e.Actor()]; ok && now.installed == "" && r.status == "deployed" && r.at < hand.since {
			b.breaks(installTruth, "at %s the status says that nothing is installed, and a record says that version %s is deployed", history.Clock(e.At), r.version)
		}
	}
}

// judgeProgress (S1-L1, S1-L2) counts what a recovery takes, and what all of them take together.
func (b *Books) judgeProgress(at history.Time) {
	if b.crashes > 0 && !b.quiet && (b.recent > mostAttempts || b.timers > mostTimers) {
		b.breaks(progress, "at %s, %v after the crash, there have been %d attempts and %d periods of back-off, and the status says %s", history.Clock(at),
			(at - b.since).Round(time.Second), b.recent, b.timers, b.status)
	}
	if b.attempts > b.crashes+3 {
		b.breaks(fewAttempts, "at %s there have been %d attempts, and %d interruptions", history.Clock(at), b.attempts, b.crashes)
	}
}

// String is what the status says, for people.
func (s said) String() string {
	return fmt.Sprintf("installed %q, %s: %s", s.installed, s.reason, s.message)
}

// Actionable (S1-A1): while there is no progress after an interruption, for 95 % of the time the status names the bundle and says that it
// was interrupted.
func (b *Books) Actionable(h *history.History) error {
	b.read(h)
	from, now := b.since+soon, h.Now()
	if b.crashes == 0 || b.quiet || b.well() || now < from+soon {
		return nil
	}
	told := b.told(from, now, func(s said) bool {
		return s.reason == v1.ReasonSucceeded || strings.Contains(s.message, "interrupted") && strings.Contains(s.message, packageName+".v")
	})
	if told < (now-from)*95/100 {
		return fmt.Errorf("in the %v since %s the status said for %v what was interrupted; it says %s", now-from, history.Clock(from), told, b.status)
	}
	return nil
}

// Perpetual (S1-L3): from the fifth interruption on, while there is no end of them, the status says so for 95 % of the time.
func (b *Books) Perpetual(h *history.History) error {
	b.read(h)
	from, now := b.fifth, h.Now()
	if b.crashes < many || now < from+10*soon {
		return nil
	}
	told := b.told(from, now, func(s said) bool {
		return s.reason == v1.ReasonSucceeded && s.installed == two || strings.Contains(s.message, "interrupted")
	})
	if told < (now-from)*95/100 {
		return fmt.Errorf("in the %v since the fifth interruption at %s the status said so for %v; it says %s", now-from, history.Clock(from), told, b.status)
	}
	return nil
}

// Unmasked (S1-A2): some time after an interruption the status names the cause of a failure that keeps coming back.
func (b *Books) Unmasked(h *history.History) error {
	b.read(h)
	if b.crashes == 0 || b.quiet || b.well() || h.Now() < b.since+2*soon || strings.Contains(b.status.message, cause) {
		return nil
	}
	return fmt.Errorf("%v after the crash the status does not name the cause; it says %s", (h.Now() - b.since).Round(time.Second), b.status)
}

// Installed holds when the status says that all is well, and a record agrees.
func (b *Books) Installed(h *history.History) error {
	b.read(h)
	if b.well() {
		return nil
	}
	return fmt.Errorf("%s", b.status)
}

// Finished holds when no version is begun and not deployed.
func (b *Books) Finished(h *history.History) error {
	b.read(h)
	if b.begun != "" {
		return fmt.Errorf("version %s was begun and is not deployed; the status says %s", b.begun, b.status)
	}
	return nil
}

// NoOrphans (S1-S6): objects of a version other than the deployed one, or too few or too many of that, are left over.
func (b *Books) NoOrphans(h *history.History) error {
	b.read(h)
	if !b.well() {
		return nil
	}
	if v := b.versions(); len(v) != 1 || v[0] != b.status.installed || !b.complete(v[0]) {
		return fmt.Errorf("version %s is deployed, and there are objects of %v", b.status.installed, v)
	}
	return nil
}

// NothingLeft holds when neither objects nor records are there.
func (b *Books) NothingLeft(h *history.History) error {
	b.read(h)
	if len(b.objects)+len(b.records) > 0 {
		return fmt.Errorf("%d objects and %d release records are left", len(b.objects), len(b.records))
	}
	return nil
}
