package run

import (
	"slices"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/result"
	"github.com/wavetank/wavetank/story"
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
	i := slices.IndexFunc(s.all, func(c siteCount) bool {
		return c.source == e.Source && c.verb == e.Verb && c.kind == kind && c.sub == e.Sub
	})
	if i < 0 {
		i, s.all = len(s.all), append(s.all, siteCount{source: e.Source, verb: e.Verb, kind: kind, sub: e.Sub})
	}
	c := &s.all[i]
	c.sent++
	if e.Reconcile.None() {
		return
	}
	c.reconciling++
	if len(s.stale) > 0 && s.stale[e.ReconcileID()] {
		c.fooled++
	}
}

// Counts are those of all call sites.
func (s *Sites) Counts() (out []result.SiteCount) {
	for _, c := range s.all {
		n := result.SiteCount{CallSite: SiteOf(c.source, c.verb, c.kind, c.sub), Sent: c.sent}
		if c.reconciling > 0 {
			n.Struck = []story.Strike{{Fault: story.StaleReads, Opportunities: c.reconciling, Injected: c.fooled}}
		}
		out = append(out, n)
	}
	return out
}

// SiteOf is a call site, of a kind or host and a subresource.
func SiteOf(source, verb, kind, sub string) story.CallSite {
	if sub != "" {
		kind += "/" + sub
	}
	return story.CallSite{Source: source, Verb: verb, Object: kind}
}
