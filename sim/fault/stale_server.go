package fault

import (
	"fmt"
	"sort"
	"time"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/inject"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// StaleServer adds an API server whose watch caches lag behind the storage by up to d, and moves
// processes to it, as a load balancer does with a new connection. An incarnation that has been
// moved stays there. Declare it twice for three servers.
//
// An API server has a watch cache for each kind. Choices decide which kinds lag: all, some or one.
// Where an answer may be old, a kind is also shown as it was just before its latest object was
// created, changed, marked for deletion, or removed. A process can therefore see an object again
// that was deleted and created again, however short the gap was. [StaleCache] cannot do this: it
// delays a cache, but a cache never goes back while its process lives.
//
// The answers follow the guarantees of kube-apiserver (KEP 2340, KEP 3157):
//
//   - resourceVersion=0, and a watch without a version, return the state of the watch cache.
//     After a restart a process may see an older state than before.
//   - A list without a version, and the watch-list of informers, are consistent: they wait
//     until the cache has caught up. After 3 s the list is read from the storage, and the
//     watch-list is refused with 504 and retried.
//   - A version is a lower bound, with the same wait. Writes, and gets without a version, go to
//     the storage.
//   - An open watch lags.
//
// An informer of client-go 0.35 or later therefore does not go back in time; it starts late. It
// does go back in a process with sim.ListThenWatch, and also if its watch-list fails for another
// reason, because it then lists at resourceVersion=0.
func StaleServer(d time.Duration, scopes ...Scope) Fault {
	return declare("StaleServer", d.String(), scopes, func(c core) inject.Fault {
		return &staleServer{c, map[string]int64{}, map[string]time.Duration{}, map[string]time.Duration{}}
	}).upTo(d)
}

type staleServer struct {
	core
	// reached is the newest revision that the server's cache of a kind has shown: it does not go
	// back.
	reached map[string]int64
	// moved is how far the server lags, by incarnation that was moved to it.
	moved map[string]time.Duration
	// alone is the same by incarnation and kind, if only the cache of this kind lags.
	alone map[string]time.Duration
}

// Check implements [inject.Fault].
func (s *staleServer) Check() error {
	if w := s.env.Window(); w > 0 && s.longest > w {
		return fmt.Errorf("lags further than the history kept by sim.Window (%v)", w)
	}
	return s.core.Check()
}

// End implements [inject.Ender].
func (s *staleServer) End() {
	clear(s.moved)
	clear(s.alone)
}

// Arrive implements [inject.Arriver].
func (s *staleServer) Arrive(c *wire.Call) wire.Ruling {
	if c.Host != "" || c.Cluster != "" || c.Idle() || c.Lag > 0 || s.env.Ended() || !s.reaches(c) {
		return wire.Ruling{}
	}
	needs, cached := s.env.Server().FromCache(&c.Request)
	if !cached {
		return wire.Ruling{}
	}
	note := ""
	if needs == 0 && c.Verb() != "watch" {
		note = s.goBack(c)
	}
	if note == "" {
		s.move(c)
	}
	if c.Lag = s.lag(c); c.Lag == 0 {
		return wire.Ruling{}
	}
	return s.serve(c, needs, note)
}

// move may move the incarnation to the server, for all kinds or for this one.
func (s *staleServer) move(c *wire.Call) {
	v := s.injected(at(c, ""), len(lags), 6, 2)
	if v == 0 {
		return
	}
	d := s.share(lags, v)
	alone := at(c, "alone")
	alone.Kind, alone.Of = story.Inject, s.name
	if s.env.Rarely(alone, 2, 2) > 0 {
		s.alone[cacheOf(c)] = d
	} else {
		s.moved[c.Port.Name()] = d
		delete(s.alone, cacheOf(c))
	}
}

// goBack may show the incarnation this kind as it was before one of the [turns] of its history.
// Chance would hardly hit the moment between two writes of an operator with a length of time.
func (s *staleServer) goBack(c *wire.Call) (note string) {
	turns := s.turns(c)
	if len(turns) == 0 {
		return ""
	}
	v := s.injected(at(c, "past"), 1+len(turns), 6, 2)
	if v == 0 {
		return ""
	}
	s.alone[cacheOf(c)] = s.longest
	s.reached[kindOf(c)] = turns[v-1].before
	return fmt.Sprintf("a server that has not seen yet that %s %s", turns[v-1].ref, turns[v-1].what)
}

// lag returns how far the cache lags that answers.
func (s *staleServer) lag(c *wire.Call) time.Duration {
	if d := s.alone[cacheOf(c)]; d > 0 {
		return d
	}
	return s.moved[c.Port.Name()]
}

// kindOf names a cache of the server: it has one for each kind.
func kindOf(c *wire.Call) string { return c.Info.Group + "/" + c.Kind }

// cacheOf names the cache of a kind as an incarnation sees it.
func cacheOf(c *wire.Call) string { return c.Port.Name() + " " + kindOf(c) }

// serve lets the lagging server answer. A note states how the server was chosen, if it was by
// what it has not seen.
func (s *staleServer) serve(c *wire.Call, needs int64, note string) wire.Ruling {
	current, kind := s.env.Server().Revision(), kindOf(c)
	reached := max(s.reached[kind], revisionAt(s.env, s.env.Now()-c.Lag))
	s.reached[kind] = reached
	if note == "" {
		note = fmt.Sprintf("a server that is %v behind", c.Lag)
	}
	s.note(c, fmt.Sprintf("%s (revision %d of %d) answers", note, reached, current))
	ruling := wire.Ruling{Seen: s.latestObserved}
	if needs > reached && needs <= current {
		c.Wait = committedAt(s.env, needs) + c.Lag - s.env.Now()
		if c.Wait > apiserver.CacheWait {
			c.Wait = apiserver.CacheWait
			if c.Verb() == "list" && c.Request.URL.Query().Get("resourceVersion") == "" {
				return ruling // read from the storage
			}
			ruling.Answer = s.env.Server().TooLargeRevision(&c.Request, needs, reached)
			return ruling
		}
		s.reached[kind] = needs
	}
	c.Request.AsOf = s.reached[kind]
	return ruling
}

// Lag implements [inject.Lagger]: an open watch lags.
func (s *staleServer) Lag(stream *wire.Stream, frame apiserver.Frame) time.Duration {
	if stream.Call.Lag == 0 || s.env.Ended() {
		return 0
	}
	return max(0, committedAt(s.env, frame.Revision)+stream.Call.Lag-s.env.Now())
}

// revisionAt is the revision that the storage had at a time.
func revisionAt(env inject.Env, at time.Duration) int64 {
	events := env.History().Events
	if len(events) == 0 {
		return env.Server().Revision()
	}
	i := sort.Search(len(events), func(i int) bool { return events[i].At > at })
	return events[max(i-1, 0)].Server
}

// committedAt is the time at which the storage reached a revision.
func committedAt(env inject.Env, revision int64) time.Duration {
	events := env.History().Events
	i := sort.Search(len(events), func(i int) bool { return events[i].Server >= revision })
	if i == len(events) {
		return env.Now()
	}
	return events[i].At
}
