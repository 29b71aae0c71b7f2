// This file is about what only the fixed variant has an answer to: what it must not do to another
// object of the same name, what becomes of its status in other hands, and of conflicts that never
// end.

package throttle

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/controllers/throttle"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// holds checks that the fixed variant has the properties, in so many runs.
func holds(t *testing.T, scene workload, runs int, faults []fault.Fault,
	sentences ...string) {
	t.Helper()
	r := sim.Explore(t, scene.New(throttle.V4, sentences, faults...), sim.Runs(runs), sim.For(0))
	if r.Failure != nil {
		t.Errorf("%s: %s", r.Failure.Property, r.Failure.Message)
	}
}

// replaced has a user take an object away by force, while its handler may be at work, and make
// another of the same name.
func replaced(s *World) {
	s.Always("nothing is said of the next one that is about the last one", func(h *history.History) error {
		s.read(h)
		for _, o := range s.examples {
			if s.reports(o, "metadata.uid", h.Now()) {
				return fmt.Errorf("it is said of %s that another has its name", o.Ref.Name)
			}
			now := o.Value()
			for _, c := range now.Status.Conditions {
				if c.Status == "True" && now.DeletionTimestamp == nil &&
					o.made(change{generation: now.Generation}) == 0 {
					return fmt.Errorf("%s is said to be handled, and no handler has been called for it", o.Ref.Name)
				}
			}
		}
		return nil
	})
	replace := inTurn(applied(Example("replaced"), 2*time.Second), remove("replaced"), release("replaced"))
	inTurn(replace, replace, replace, apply(Example("replaced")), settle)(s)
}

// The outcome of a handler for an object is not that of the next object of the same name.
func TestAnOutcomeIsNotForTheNextOfThatName(t *testing.T) {
	holds(t, of(quiet, replaced), 300, append(lagging(), fault.SlowEffect(time.Minute)), effectOnce, calledOnce,
		notVanished, noEnd, handled)
}

// cleared has a user remove what the handlers returned, and nothing else of the status.
func cleared(s *World) {
	s.Apply(Example("cleared"))
	s.Settle()
	if err := s.Client().Status().Patch(s.Context(), Example("cleared"),
		client.RawPatch(types.MergePatchType, []byte(`{"status":{"handlers":null}}`))); err != nil {
		panic(err)
	}
	s.Settle()
}

func TestWhatTheHandlersReturnedIsShownAgain(t *testing.T) {
	holds(t, of(quiet, cleared), 20, relists(), handled)
}

// clashed asks for the schedule of what fails, after two races that may be lost, and that the third
// conflict is reported.
func clashed(s *World) {
	s.Always("a conflict that does not end is tried on the schedule, and reported", func(h *history.History) error {
		s.read(h)
		for _, o := range s.examples {
			due, row := history.Time(0), 0
			for _, w := range o.writes {
				if w.code != http.StatusConflict {
					continue
				}
				if row++; row > 3 && w.request.At < due {
					return fmt.Errorf("conflict %d came at %s, which is %v sooner than the schedule has it", row,
						history.Clock(w.request.At), due-w.request.At)
				}
				if row >= 3 {
					due = w.heard + delay(row-3)
				}
				if row == 3 && h.Now() > w.heard+second+3*leg &&
					!s.reports(o, "another writer is at work on it", w.heard+3*leg) {
					return fmt.Errorf("nothing says that %s has been in conflict %d times in a row", o.Ref.Name, row)
				}
			}
		}
		return nil
	})
	inTurn(applied(finalized("clashed", throttle.Finalizer), dwell), lift(true), settle)(s)
}

// inConflict is a rule: what may not pass is in conflict with something.
func inConflict(string, map[string]string) admission.Response {
	answer := admission.Denied("another writer is at work on it")
	answer.Result.Code, answer.Result.Reason = http.StatusConflict, metav1.StatusReasonConflict
	return answer
}

func TestAConflictThatDoesNotEndIsAFailure(t *testing.T) {
	clashing := Setting{Handlers: []string{short}, Before: police(inConflict, "kopfexamples")}
	holds(t, of(clashing, clashed), 50, relists(), noFailure, calledOnce, handled)
}

// An object that is deleted stays for as long as the finalizer of another controller is on it.
func TestForeignFinalizerKeepsADeletedObject(t *testing.T) {
	deletes := inTurn(applied(finalized("deleted", foreignFinalizer), 10*time.Second), remove("deleted"), sleep(dwell))
	holds(t, of(quiet, deletes), 20, lagging(), noEnd, keepsForeign)
}
