package sim

import (
	"fmt"
	"sort"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// StaleServer adds an API server whose watch cache trails the storage by up to d, and moves processes there, as a load
// balancer does with a new connection: a life that has been moved stays. Declared twice it makes three servers. What one
// sees there is what kube-apiserver promises (KEP 2340, KEP 3157):
//
//   - resourceVersion=0, and a watch without a version, are answered with the state that the cache has: after a restart
//     time may go back.
//   - A list without a version, and the informers' watch-list, are consistent: they wait until the cache has caught up.
//     After 3 s the list is read from the storage, and the watch-list is refused with 504 and tried again.
//   - A version is a lower bound in the same way. Writes, and gets without a version, go to the storage.
//   - An open watch trails.
//
// An informer of client-go 0.35 and later therefore does not go back in time, it starts late. It does go back where its
// watch-list fails for another reason and it falls back to a list at resourceVersion=0, and in a process with
// [ListThenWatch].
func StaleServer(d time.Duration, scopes ...Scope) Fault {
	return &staleServer{newFault(fmt.Sprintf("StaleServer(%v)", d), scopes), d, 0, map[string]time.Duration{}}
}

type staleServer struct {
	fault
	max     time.Duration
	reached int64                    // the newest revision that the server has shown: it does not go back either
	moved   map[string]time.Duration // how far the server trails for the lives that were moved to it
}

func (f *staleServer) fresh() Fault {
	return &staleServer{f.fault, f.max, 0, map[string]time.Duration{}}
}

func (f *staleServer) heal(*World) { clear(f.moved) }

func (f *staleServer) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || c.Cluster != "" || c.Idle() || c.Trails > 0 || w.healed || !f.scope.reaches(c) {
		return wire.Ruling{}
	}
	needs, cached := w.wire.Server().FromCache(&c.Request)
	if !cached {
		return wire.Ruling{}
	}
	life := c.Port.Name()
	if v := f.strikes(w, c.Port.Process+" "+c.String(), len(lagLevels), 6, 2); v > 0 {
		f.moved[life] = f.max / time.Duration(lagLevels[v])
	}
	if f.moved[life] == 0 {
		return wire.Ruling{}
	}
	return f.serve(w, c, needs)
}

// serve lets the server that trails answer.
func (f *staleServer) serve(w *World, c *wire.Call, needs int64) wire.Ruling {
	c.Trails = f.moved[c.Port.Name()]
	current := w.wire.Server().Revision()
	f.reached = max(f.reached, w.revisionAt(w.sched.Now()-c.Trails))
	f.mark(w, c, fmt.Sprintf("a server that is %v behind (revision %d of %d) answers", c.Trails, f.reached, current))
	ruling := wire.Ruling{Seen: f.seenLatest}
	if needs > f.reached && needs <= current {
		c.Wait = w.committedAt(needs) + c.Trails - w.sched.Now()
		if c.Wait > apiserver.CacheWait {
			c.Wait = apiserver.CacheWait
			if c.Verb() == "list" && c.Request.URL.Query().Get("resourceVersion") == "" {
				return ruling // read from the storage
			}
			ruling.Answer = w.wire.Server().TooLargeRevision(&c.Request, needs, f.reached)
			return ruling
		}
		f.reached = needs
	}
	c.Request.AsOf = f.reached
	return ruling
}

// revisionAt is the revision that the storage had at a time.
func (w *World) revisionAt(at time.Duration) int64 {
	events := w.history.Events
	if len(events) == 0 {
		return w.wire.Server().Revision()
	}
	i := sort.Search(len(events), func(i int) bool { return events[i].At > at })
	return events[max(i-1, 0)].Server
}

// committedAt is the time at which the storage reached a revision.
func (w *World) committedAt(revision int64) time.Duration {
	events := w.history.Events
	i := sort.Search(len(events), func(i int) bool { return events[i].Server >= revision })
	if i == len(events) {
		return w.sched.Now()
	}
	return events[i].At
}

// trailing is how much later an event reaches a watch because of the server that serves it.
func (w *World) trailing(s *wire.Stream, f apiserver.Frame) history.Time {
	if s.Call.Trails == 0 || w.healed {
		return 0
	}
	return max(0, w.committedAt(f.Revision)+s.Call.Trails-w.sched.Now())
}
