package fence

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/properties"
)

// Who touches a pending record is seen to, whatever else its maker has in hand.
func TestWhoHasSeveralInHandIsStillAtAll(t *testing.T) {
	for _, ended := range []bool{false, true} {
		j := New(properties.Broken{})
		event := func(process, name string, kind history.Kind) *history.Event {
			e := &history.Event{Kind: kind, Process: process, Incarnation: 1, At: time.Second,
				Reconcile: history.Reconcile{Key: history.Key{Controller: "c", Name: name}, N: 1}}
			j.Event(e)
			return e
		}
		pending := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"status": "pending-install"}}}
		event("a", "one", history.Dequeue)
		j.Record(event("a", "one", history.Request), &history.Change{Type: "ADDED"}, "one", pending)
		event("a", "two", history.Dequeue)
		event("a", "two", history.Done)
		if ended {
			event("a", "one", history.Done)
		}
		event("b", "one", history.Dequeue)
		j.Record(event("b", "one", history.Request), &history.Change{Type: "MODIFIED"}, "one", pending)
		if broken := j.Broken[Property]; (broken != nil) == ended {
			t.Errorf("a has ended what it began: %v; broken: %v", ended, broken)
		}
	}
}
