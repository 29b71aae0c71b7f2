package run

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// Refused says what became of one sort of request of a process: a verb with a kind, or a method
// with a host.
type Refused struct {
	Process, Request string
	Made, Failed     int
	Code             int // of the last one that failed
}

// RefusedOf counts the requests of programs that were answered, except by faults. That something is
// not found, is there already or has changed meanwhile (404, 409) is an answer and no refusal.
func RefusedOf(events []history.Event) (out []Refused) {
	type sort struct {
		process, verb, sub, host string
		of                       history.Ref
	}
	at := map[sort]int{}
	for i := range events {
		e := &events[i]
		if e.Kind != history.Request || e.Incarnation == 0 || e.Code == 0 || e.Injected {
			continue
		}
		r := Refused{Made: 1}
		if e.Code >= http.StatusBadRequest && e.Code != http.StatusNotFound && e.Code != http.StatusConflict {
			r.Failed, r.Code = 1, e.Code
		}
		k := sort{e.Process, e.Verb, e.Sub, e.Host, history.Ref{Cluster: e.Ref.Cluster, Kind: e.Ref.Kind}}
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, Refused{Process: e.Process, Request: sortOf(e)})
		}
		out[at[k]].add(r)
	}
	return out
}

func sortOf(e *history.Event) string {
	if e.Host != "" {
		return e.Verb + " " + e.Host
	}
	s := e.Verb + " " + e.Ref.Kind
	if e.Sub != "" {
		s += "/" + e.Sub
	}
	if e.Ref.Cluster != "" {
		s += " in " + e.Ref.Cluster
	}
	return s
}

func (r *Refused) add(more Refused) {
	r.Made += more.Made
	r.Failed += more.Failed
	r.Code = cmp.Or(more.Code, r.Code)
}

// AddRefused adds the count of one sort of request to those of all sorts.
func AddRefused(all []Refused, r Refused) []Refused {
	same := func(have Refused) bool { return have.Process == r.Process && have.Request == r.Request }
	at := slices.IndexFunc(all, same)
	if at < 0 {
		return append(all, r)
	}
	all[at].add(r)
	return all
}
