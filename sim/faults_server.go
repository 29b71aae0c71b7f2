package sim

import (
	"fmt"
	"sort"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// StaleServer adds an API server whose watch caches trail the storage by up to d, and moves processes there, as a load
// balancer does with a new connection: an incarnation that has been moved stays. Declared twice it makes three servers.
//
// An API server has a watch cache for each kind. All kinds may be behind, or one, or some, without a scope that says so.
// Where an answer may be old, a kind is also shown as it was just before its latest object was created, changed, marked
// as being deleted, or gone. So an object can be met again that was deleted and made anew, however short that was.
// [StaleCache] cannot do that: it makes a cache late, but a cache never goes back while its process lives.
//
// What one sees there is what kube-apiserver promises (KEP 2340, KEP 3157):
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
	return newStaleServer(newFault(fmt.Sprintf("StaleServer(%v)", d), scopes), d)
}

type staleServer struct {
	fault
	max     time.Duration
	reached map[string]int64         // by kind, the newest revision that the server's cache has shown: it does not go back
	moved   map[string]time.Duration // by incarnation, how far the server trails for those that were moved to it
	alone   map[string]time.Duration // by incarnation and kind, the same where only the cache of this kind trails
}

func newStaleServer(f fault, d time.Duration) *staleServer {
	return &staleServer{f, d, map[string]int64{}, map[string]time.Duration{}, map[string]time.Duration{}}
}

func (f *staleServer) fresh() Fault { return newStaleServer(f.fault, f.max) }

func (f *staleServer) heal(*World) {
	clear(f.moved)
	clear(f.alone)
}

func (f *staleServer) arrive(w *World, c *wire.Call) wire.Ruling {
	if c.Host != "" || c.Cluster != "" || c.Idle() || c.Trails > 0 || w.healed || !f.scope.reaches(c) {
		return wire.Ruling{}
	}
	needs, cached := w.wire.Server().FromCache(&c.Request)
	if !cached {
		return wire.Ruling{}
	}
	note := ""
	if needs == 0 && c.Verb() != "watch" {
		note = f.goBack(w, c)
	}
	if note == "" {
		f.move(w, c)
	}
	if c.Trails = f.trails(c); c.Trails == 0 {
		return wire.Ruling{}
	}
	return f.serve(w, c, needs, note)
}

// move may move the incarnation to the server, for all kinds or for this one.
func (f *staleServer) move(w *World, c *wire.Call) {
	where := c.Port.Process + " " + c.String()
	v := f.strikes(w, where, len(lagLevels), 6, 2)
	if v == 0 {
		return
	}
	d := f.max / time.Duration(lagLevels[v])
	if w.choices.Rarely(f.name+" alone "+where, 2, 2) > 0 {
		f.alone[cacheOf(c)] = d
	} else {
		f.moved[c.Port.Name()] = d
		delete(f.alone, cacheOf(c))
	}
}

// goBack may show the incarnation this kind as it was before one of the [turns] of its history. Chance would hardly hit
// the moment between two writes of an operator with a length of time.
func (f *staleServer) goBack(w *World, c *wire.Call) (note string) {
	turns := f.turns(w, c)
	if len(turns) == 0 {
		return ""
	}
	v := f.strikes(w, "past "+c.Port.Process+" "+c.String(), 1+len(turns), 6, 2)
	if v == 0 {
		return ""
	}
	f.alone[cacheOf(c)] = f.max
	f.reached[kindOf(c)] = turns[v-1].before
	return fmt.Sprintf("a server that has not seen yet that %s %s", turns[v-1].ref, turns[v-1].what)
}

// trails is how far behind the cache is that answers.
func (f *staleServer) trails(c *wire.Call) time.Duration {
	if d := f.alone[cacheOf(c)]; d > 0 {
		return d
	}
	return f.moved[c.Port.Name()]
}

// kindOf names a cache of the server: it has one for each kind.
func kindOf(c *wire.Call) string { return c.Info.Group + "/" + c.Kind }

// cacheOf names the cache of a kind as an incarnation sees it.
func cacheOf(c *wire.Call) string { return c.Port.Name() + " " + kindOf(c) }

// serve lets the server that trails answer. A note says how the server was chosen, if it was by what it has not seen.
func (f *staleServer) serve(w *World, c *wire.Call, needs int64, note string) wire.Ruling {
	current, kind := w.wire.Server().Revision(), kindOf(c)
	reached := max(f.reached[kind], w.revisionAt(w.sched.Now()-c.Trails))
	f.reached[kind] = reached
	if note == "" {
		note = fmt.Sprintf("a server that is %v behind", c.Trails)
	}
	f.mark(w, c, fmt.Sprintf("%s (revision %d of %d) answers", note, reached, current))
	ruling := wire.Ruling{Seen: f.seenLatest}
	if needs > reached && needs <= current {
		c.Wait = w.committedAt(needs) + c.Trails - w.sched.Now()
		if c.Wait > apiserver.CacheWait {
			c.Wait = apiserver.CacheWait
			if c.Verb() == "list" && c.Request.URL.Query().Get("resourceVersion") == "" {
				return ruling // read from the storage
			}
			ruling.Answer = w.wire.Server().TooLargeRevision(&c.Request, needs, reached)
			return ruling
		}
		f.reached[kind] = needs
	}
	c.Request.AsOf = f.reached[kind]
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
