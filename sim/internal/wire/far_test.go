package wire

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
)

// A program in another process gets replies and watch events in the steps of the world, and the
// world learns that it gives a request up.
func TestFarProgramTakesTheWire(t *testing.T) {
	run(t, func(t *testing.T, w *world) {
		here := w.program("p")
		given := history.Reconcile{Key: history.Key{Controller: "c", Name: "a"}, N: 2}
		far, cancels := &Far{}, map[int64]context.CancelFunc{}
		far.Send = func(s Sent) {
			ctx, cancel := context.WithCancel(context.Background())
			cancels[s.ID] = cancel
			here.Attribute = func(context.Context) history.Reconcile { return s.Reconcile }
			go here.Carry(ctx, s, far.Take)
		}
		far.Cancel = func(id int64) { cancels[id]() }
		there := New(w.Sched, &history.History{}, apiserver.New(apiserver.Options{Now: time.Now}), nil)
		there.Far = far
		p := there.NewPort("p", 1)
		p.Attribute = func(context.Context) history.Reconcile { return given }

		got := w.send(t.Context(), p, http.MethodGet, configMaps, "")
		expect(t, "the reply before its step", got, "waits")
		w.drain(time.Second)
		expect(t, "the reply", got, "200")
		expect(t, "whose request it is", w.History.Events[0].Reconcile, given.String())

		p.Attribute = func(context.Context) history.Reconcile { return history.Reconcile{} }
		watching, stop := context.WithCancel(t.Context())
		w.watch(watching, p, watchConfigMaps)
		w.commit(t, "a")
		expect(t, "streamed before its step", w.streamed, "[]")
		w.Sched.Step(w.Sched.Now() + time.Second)
		expect(t, "streamed", w.streamed, "[ADDED a]")
		stop()
		w.drain(w.Sched.Now() + time.Second)
		expect(t, "streams after the reader's end", len(w.Watches.Streams()), "0")

		leaving, leave := context.WithCancel(t.Context())
		got = w.send(leaving, p, http.MethodGet, configMaps, "")
		leave()
		synctest.Wait()
		expect(t, "a reply that is not waited for", got, "context canceled")
		w.drain(w.Sched.Now() + time.Second)
		last := w.History.Events[len(w.History.Events)-1]
		expect(t, "the end of it", last.Note, "the caller gave up")
	})
}
