package story

import (
	"cmp"
	"slices"
	"strings"
)

// CallSite is a line of the program that sends requests of one sort.
type CallSite struct {
	Source string `json:"source"` // dir/file.go:line in its module
	Verb   string `json:"verb"`   // or the HTTP method of a request to the outside
	Object string `json:"object"` // kind with the subresource, or host
}

// String is the call site in words.
func (c CallSite) String() string { return c.Source + " " + c.Verb + " " + c.Object }

// SiteTotal counts, over the runs of a campaign, how often a call site sent a request and which
// faults were injected at it.
type SiteTotal struct {
	CallSite
	Sent   int      `json:"sent"` // requests that took effect, or that a fault answered
	Struck []Strike `json:"struck,omitempty"`
}

// Strike counts the injections of a fault at the requests of one call site.
type Strike struct {
	// Fault is the name of the fault's constructor and how it is injected, for example "Crash
	// before". [StaleReads] is that the reconcile which sent the request began with a stale cache.
	Fault         string `json:"fault"`
	Opportunities int    `json:"opportunities"`
	Injected      int    `json:"injected"`
}

// StaleReads is the column of requests by reconciles that began with a stale cache.
const StaleReads = "stale cache"

// Blank counts the faults that could have been injected at the call site and never were.
func (s SiteTotal) Blank() (n int) {
	for _, stream := range s.Struck {
		if stream.Injected == 0 {
			n++
		}
	}
	return n
}

// At is the count of a fault; nil if it had no opportunity.
func (s SiteTotal) At(fault string) *Strike {
	i := slices.IndexFunc(s.Struck, func(stream Strike) bool { return stream.Fault == fault })
	if i < 0 {
		return nil
	}
	return &s.Struck[i]
}

// AddSites adds the counts of some call sites to those of others.
func AddSites(to, more []SiteTotal) []SiteTotal {
	for _, n := range more {
		t := at(&to, func(t SiteTotal) bool { return t.CallSite == n.CallSite }, SiteTotal{CallSite: n.CallSite})
		t.Sent += n.Sent
		for _, s := range n.Struck {
			have := at(&t.Struck, func(h Strike) bool { return h.Fault == s.Fault }, Strike{Fault: s.Fault})
			have.Opportunities += s.Opportunities
			have.Injected += s.Injected
		}
	}
	return to
}

// WorstFirst are the call sites with the most faults that were never injected first.
func WorstFirst(sites []SiteTotal) []SiteTotal {
	return slices.SortedFunc(slices.Values(sites), func(a, b SiteTotal) int {
		return cmp.Or(cmp.Compare(b.Blank(), a.Blank()), cmp.Compare(a.Sent, b.Sent),
			strings.Compare(a.String(), b.String()))
	})
}

// Columns are the faults that had an opportunity at one of the call sites, in order.
func Columns(sites []SiteTotal) (out []string) {
	for _, t := range sites {
		for _, s := range t.Struck {
			if !slices.Contains(out, s.Fault) {
				out = append(out, s.Fault)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b))
	})
	return out
}

// rank puts what happens before a request takes effect before what happens after it, and stale
// reads at the end.
func rank(fault string) string {
	class, when, _ := strings.Cut(fault, " ")
	if fault == StaleReads {
		return "~"
	}
	if when == "before" || when == "not applied" {
		return class + " 1"
	}
	return class + " 2"
}
