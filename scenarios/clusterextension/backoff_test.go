// This file tests how attempts in a period of back-off are counted.

package clusterextension

import (
	"encoding/json"
	"testing"
	"time"

	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
)

// diary is a history that is made by hand.
type diary struct {
	history.History
	passes int
}

// tries has a reconcile ask for the object that is refused.
func (d *diary) tries(at time.Duration, why history.CauseKind) {
	d.passes++
	e := d.of(d.passes, at)
	e.Kind, e.Cause, e.Wait = history.Dequeue, history.Cause{Kind: why}, time.Minute
	d.Add(e)
	e = d.of(d.passes, at)
	e.Kind, e.Verb, e.Code = history.Request, "create", 404
	e.Ref = history.Ref{Group: "apps", Kind: "Deployment", Namespace: cause, Name: "zeta"}
	d.Add(e)
}

// writes has a write of a pass take effect: an object gets a version.
func (d *diary) writes(pass int, at time.Duration, name, version string) {
	var o object
	o.Metadata.Labels = map[string]string{v1.OwnerNameLabel: app}
	o.Metadata.Annotations = map[string]string{versionKey: version}
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	e := d.of(pass, at)
	e.Kind, e.Verb, e.Code = history.Request, "patch", 200
	e.Ref = history.Ref{Kind: "ConfigMap", Namespace: apps, Name: name}
	e.Changes = []history.Change{{Type: "MODIFIED", Ref: e.Ref, UID: name, At: at, Object: raw}}
	d.Add(e)
}

func (*diary) of(pass int, at time.Duration) history.Event {
	key := history.Key{Controller: "clusterextension", Name: app}
	return history.Event{At: at, Process: Operator, Incarnation: 1, Reconcile: history.Reconcile{Key: key, N: pass}}
}

// An attempt that gives an object a version for the first time may be followed by one more, from
// then on when its write takes effect. Others may not.
func TestAttemptsThatGetFurther(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*diary)
		allowed bool
	}{
		"one attempt": {func(d *diary) {}, true},
		"nothing gets further": {func(d *diary) {
			d.tries(time.Hour+time.Second, history.CauseWatch)
		}, false},
		"it gets further": {func(d *diary) {
			d.writes(1, time.Hour, "alpha", two)
			d.tries(time.Hour+time.Second, history.CauseWatch)
		}, true},
		"once more, and again": {func(d *diary) {
			d.writes(1, time.Hour, "alpha", two)
			d.writes(1, time.Hour+time.Millisecond, "beta", two)
			d.tries(time.Hour+time.Second, history.CauseWatch)
			d.tries(time.Hour+2*time.Second, history.CauseWatch)
		}, false},
		"its write takes effect late": {func(d *diary) {
			d.tries(2*time.Hour, history.CauseBackOff)
			d.writes(1, 2*time.Hour+time.Minute, "alpha", two)
			d.tries(2*time.Hour+time.Minute+time.Second, history.CauseWatch)
		}, true},
		"it got further long before": {func(d *diary) {
			d.writes(1, time.Hour, "alpha", two)
			d.tries(2*time.Hour, history.CauseBackOff)
			d.tries(2*time.Hour+time.Second, history.CauseWatch)
		}, false},
		"it had that version before": {func(d *diary) {
			d.writes(1, time.Hour, "alpha", two)
			d.tries(2*time.Hour, history.CauseBackOff)
			d.writes(2, 2*time.Hour, "alpha", one)
			d.tries(3*time.Hour, history.CauseBackOff)
			d.writes(3, 3*time.Hour, "alpha", two)
			d.tries(3*time.Hour+time.Second, history.CauseWatch)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var d diary
			b := newRecord(Setting{})
			b.refusedFrom = time.Minute
			d.tries(time.Hour, history.CauseBackOff)
			c.happens(&d)
			d.tries(10*time.Hour, history.CauseBackOff)
			b.read(&d.History)
			if err := b.restrained(&d.History); (err == nil) != c.allowed {
				t.Errorf("while faults last: %v", err)
			}
			b.measuredFrom = b.refusedFrom
			if err := b.settles(&d.History); (err == nil) != c.allowed {
				t.Errorf("when faults have ended: %v", err)
			}
		})
	}
}
