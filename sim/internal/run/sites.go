package run

import (
	"slices"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/result"
)

// Sites counts the requests of each call site of the programs, and those of reconciles that began
// with a stale cache. Watches, Leases and Events are left out.
type Sites struct {
	all   []siteCount
	stale map[history.ReconcileID]bool
}

// siteCount is what one call site has sent. The parts of its object are compared before they are
// joined, as there are few call sites and many requests.
type siteCount struct {
	source, verb, kind, sub   string
	sent, reconciling, fooled int
	struck                    []story.Strike
}

// Read takes in the next events.
func (s *Sites) Read(events []history.Event) {
	if s.stale == nil {
		s.stale = map[history.ReconcileID]bool{}
	}
	for i := range events {
		switch e := &events[i]; e.Kind {
		case history.Dequeue:
			if len(e.Seen) > 0 {
				s.stale[e.ReconcileID()] = true
			}
		case history.Done:
			delete(s.stale, e.ReconcileID())
		case history.Request:
			if e.Incarnation > 0 && e.Source != "" && e.Verb != "watch" && !e.Ref.Chatter() {
				s.request(e)
			}
		}
	}
}

func (s *Sites) request(e *history.Event) {
	kind := e.Ref.Kind
	if e.Host != "" {
		kind = e.Host
	}
	c := s.at(e.Source, e.Verb, kind, e.Sub)
	c.sent++
	if e.Reconcile.None() {
		return
	}
	c.reconciling++
	if len(s.stale) > 0 && s.stale[e.ReconcileID()] {
		c.fooled++
	}
}

// at is the count of a call site.
func (s *Sites) at(source, verb, kind, sub string) *siteCount {
	i := slices.IndexFunc(s.all, func(c siteCount) bool {
		return c.source == source && c.verb == verb && c.kind == kind && c.sub == sub
	})
	if i < 0 {
		i, s.all = len(s.all), append(s.all, siteCount{source: source, verb: verb, kind: kind, sub: sub})
	}
	return &s.all[i]
}

// Strike adds the count of a fault at the requests of one call site. [story.AddSites] adds up those
// of several faults of one class.
func (s *Sites) Strike(source, verb, kind, sub string, n story.Strike) {
	c := s.at(source, verb, kind, sub)
	if c.struck == nil {
		c.struck = make([]story.Strike, 0, 16)
	}
	c.struck = append(c.struck, n)
}

// Counts are those of all call sites.
func (s *Sites) Counts() []result.SiteCount {
	out := make([]result.SiteCount, len(s.all))
	for i, c := range s.all {
		object := c.kind
		if c.sub != "" {
			object += "/" + c.sub
		}
		site := story.CallSite{Source: c.source, Verb: c.verb, Object: object}
		out[i] = result.SiteCount{CallSite: site, Sent: c.sent, Struck: c.struck}
		if c.reconciling > 0 {
			stale := story.Strike{Fault: story.StaleReads, Opportunities: c.reconciling, Injected: c.fooled}
			out[i].Struck = append(out[i].Struck, stale)
		}
	}
	return out
}
