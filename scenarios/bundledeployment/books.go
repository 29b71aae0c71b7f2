// This file exists to read a history once, piece by piece as it grows, into what the properties are
// about: when the operator took a deployment in hand and why, what it attempted, what its status
// said, and what it left behind.

package bundledeployment

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/controllers/bundledeployment"
	"github.com/wavetank/wavetank/controllers/bundledeployment/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/fence"
	"github.com/wavetank/wavetank/scenarios/internal/stored"
)

// Books is what has been read of one run's history.
type Books struct {
	// Terminates is the slowest clean-up of this world: how long a namespace takes to go.
	Terminates time.Duration
	// Since is the time of the last change from outside: everything is measured from there. See
	// [Story.Mark].
	Since history.Time
	// Over is set when it has been watched for so long that it should have settled.
	Over bool

	events   int // read so far
	accounts map[string]*account
	order    []string // of the accounts
	fence    *fence.Judge
}

// account is what is known of one deployment.
type account struct {
	name string
	// hands are all hand-outs since the last change from outside or crash, begun the time when that
	// was.
	hands []*hand
	begun history.Time
	last  *hand // the one that is or was last in hand, whenever that was
	under *hand // the one that may have been under way when hands began
	said  []said
	// ready is when its bundle was unpacked; 0 if it is not.
	ready    history.Time
	attempts int // of all times
	// overlap is an attempt that began while something which a clean-up had deleted was still
	// there.
	overlap error
	leaving map[string]history.Ref // by uid: deleted by the operator, and not gone yet
	records map[string]string      // status of each release record, by name
	most    int                    // records at one time
	holds   map[string]history.Ref // by uid: objects that carry the deployment's name
	held    map[string]history.Ref // those that ever did
	old     map[string]bool        // by uid: those of them that were there when something changed from outside
	lost    []history.Ref          // those of the old ones that are gone
	// crowded is a hand-out that began while another one was under way.
	crowded error
}

// hand is one hand-out of a deployment.
type hand struct {
	at, done history.Time
	ready    history.Time // when a free worker would have had it
	timer    bool         // back-off or RequeueAfter
	wait     time.Duration
	attempts int
	writes   int // of the status
	ends     said
}

// said is what the condition Installed said from a time on.
type said struct {
	at                      history.Time
	status, reason, message string
}

func (s said) installed() bool { return s.status == string(metav1.ConditionTrue) }
func (s said) names() bool     { return strings.Contains(s.message, cause) }

// NewBooks opens the books of a run. Make new ones for each run.
func NewBooks(terminates time.Duration) *Books {
	return &Books{Terminates: max(terminates, 5*time.Second), accounts: map[string]*account{}, fence: fence.New()}
}

// Mark says that something has changed from outside: measuring begins anew.
func (s *Story) Mark() {
	s.read(s.History())
	s.Since = s.History().Now()
	for _, name := range s.order {
		a := s.accounts[name]
		a.anew(s.Since)
		a.old, a.lost = map[string]bool{}, nil
		for uid := range a.holds {
			a.old[uid] = true
		}
	}
}

func (a *account) anew(at history.Time) {
	a.hands, a.under, a.begun, a.most = nil, a.last, at, len(a.records)
}

// of is the account of a deployment.
func (b *Books) of(name string) *account {
	a := b.accounts[name]
	if a == nil {
		a = &account{name: name, begun: b.Since, leaving: map[string]history.Ref{}, records: map[string]string{}, holds: map[string]history.Ref{},
			held: map[string]history.Ref{}}
		b.accounts[name] = a
		b.order = append(b.order, name)
	}
	return a
}

// read takes in what has happened since the last time.
func (b *Books) read(h *history.History) {
	for ; b.events < len(h.Events); b.events++ {
		e := &h.Events[b.events]
		b.fence.Event(e)
		name := e.Reconcile.Name
		switch {
		case e.Kind == history.Crash:
			for _, n := range b.order {
				a := b.accounts[n]
				a.anew(e.At)
				if a.last != nil && a.last.done == 0 {
					a.last.done = e.At
				}
			}
		case name == "":
		case e.Kind == history.Dequeue:
			a := b.of(name)
			if a.last != nil && a.last.done == 0 {
				a.crowded = fmt.Errorf("%s was handed out at %s, while the hand-out of %s was still under way", name, history.Clock(e.At), history.Clock(a.last.at))
			}
			a.last = &hand{at: e.At, ready: e.Ready, timer: e.Cause.Timer(), wait: e.Wait}
			a.hands = append(a.hands, a.last)
		case e.Kind == history.Done:
			a := b.of(name)
			a.last.done, a.last.ends = e.At, a.says()
		}
		for i := range e.Changes {
			b.change(e, name, &e.Changes[i])
		}
	}
}

// change takes in one change of one object, made while the operator had a deployment in hand, or by
// somebody else.
func (b *Books) change(e *history.Event, by string, c *history.Change) {
	switch c.Ref.Kind {
	case "BundleDeployment":
		b.readStatus(e, by, c)
		return
	case "Bundle":
		b.readBundle(e, c)
		return
	case "Secret":
		b.readRecord(e, by, c)
		return
	}
	if c.Type == "DELETED" {
		for _, name := range b.order {
			a := b.accounts[name]
			if a.old[c.UID] {
				a.lost = append(a.lost, c.Ref)
			}
			delete(a.leaving, c.UID)
			delete(a.holds, c.UID)
		}
		return
	}
	var o metav1.PartialObjectMetadata
	stored.Decode(c.Object, &o)
	if name := o.Labels[v1alpha1.OwnerNameLabel]; name != "" {
		b.of(name).holds[c.UID], b.of(name).held[c.UID] = c.Ref, c.Ref
	}
	if by != "" {
		b.fence.Object(e, c)
	}
	if by != "" && e.Verb == "delete" {
		b.of(by).leaving[c.UID] = c.Ref
	}
}

func (b *Books) readStatus(e *history.Event, by string, c *history.Change) {
	var bd v1alpha1.BundleDeployment
	stored.Decode(c.Object, &bd)
	a := b.of(c.Ref.Name)
	if c.Type == "DELETED" {
		return
	}
	now := said{at: e.At}
	if i := apimeta.FindStatusCondition(bd.Status.Conditions, v1alpha1.Installed); i != nil {
		now.status, now.reason, now.message = string(i.Status), i.Reason, i.Message
	}
	a.said = append(a.said, now)
	if by == a.name && e.Sub == "status" {
		a.last.writes++
	}
}

func (b *Books) readBundle(e *history.Event, c *history.Change) {
	var bundle v1alpha1.Bundle
	stored.Decode(c.Object, &bundle)
	if a := b.of(bundle.Labels[v1alpha1.OwnerNameLabel]); a.ready == 0 && bundle.Status.Phase == v1alpha1.PhaseUnpacked {
		a.ready = e.At
	}
}

// readRecord takes in a release record. That of an install or an upgrade is made as the attempt
// begins.
func (b *Books) readRecord(e *history.Event, by string, c *history.Change) {
	var record corev1.Secret
	stored.Decode(c.Object, &record)
	name := record.Labels["name"]
	if record.Namespace != bundledeployment.DefaultNamespace || record.Labels["owner"] != "helm" {
		return
	}
	b.fence.Record(e, c, record.Name, &record)
	a := b.of(name)
	if c.Type == "DELETED" {
		delete(a.records, record.Name)
		return
	}
	a.records[record.Name] = record.Labels["status"]
	a.most = max(a.most, len(a.records))
	if s := record.Labels["status"]; c.Type == "ADDED" && by == name && (s == "pending-install" || s == "pending-upgrade") {
		a.attempts++
		a.last.attempts++
		if ref := first(a.leaving); ref != "" {
			a.overlap = fmt.Errorf("an attempt began at %s while %s, which the clean-up of the one before had deleted, was still there", history.Clock(e.At), ref)
		}
	}
}

// first is one of the objects, always the same.
func first(objects map[string]history.Ref) string {
	least := ""
	for _, ref := range objects {
		if s := ref.String(); least == "" || s < least {
			least = s
		}
	}
	return least
}

// says is what the status says now.
func (a *account) says() said {
	if len(a.said) == 0 {
		return said{}
	}
	return a.said[len(a.said)-1]
}
