package sim

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// refused says what became of one sort of request of a process: a verb with a kind, or a method with a host.
type refused struct {
	process, what string
	made, failed  int
	code          int // of the last one that failed
}

// refusedOf counts the requests of programs that were answered. That something is not found, is there already or has
// changed meanwhile (404, 409) is an answer and no refusal.
func refusedOf(events []history.Event) (out []refused) {
	type sort struct {
		process, verb, sub, host string
		of                       history.Ref
	}
	at := map[sort]int{}
	for i := range events {
		e := &events[i]
		if e.Kind != history.Request || e.Life == 0 || e.Code == 0 {
			continue
		}
		r := refused{made: 1}
		if e.Code >= http.StatusBadRequest && e.Code != http.StatusNotFound && e.Code != http.StatusConflict {
			r.failed, r.code = 1, e.Code
		}
		k := sort{e.Process, e.Verb, e.Sub, e.Host, history.Ref{Cluster: e.Ref.Cluster, Kind: e.Ref.Kind}}
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, refused{process: e.Process, what: sortOf(e)})
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

func (r *refused) add(more refused) {
	r.made += more.made
	r.failed += more.failed
	r.code = cmp.Or(more.code, r.code)
}

func addRefused(all []refused, r refused) []refused {
	at := slices.IndexFunc(all, func(have refused) bool { return have.process == r.process && have.what == r.what })
	if at < 0 {
		return append(all, r)
	}
	all[at].add(r)
	return all
}

// warning says, in a sentence, that none of these requests succeeded; "" if one did, or too few were made.
func (r refused) warning(runs int) string {
	if r.made == 0 || r.failed < r.made || r.made < enoughRequests {
		return ""
	}
	return fmt.Sprintf("none of the %d requests %q of process %q succeeded in %d runs, so what holds may hold because nothing is done; "+
		"the last one was answered %d %s", r.made, r.what, r.process, runs, r.code, http.StatusText(r.code))
}
