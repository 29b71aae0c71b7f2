package run

import (
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/wavetank/wavetank/history"
)

// Outcomes counts how the reconciles of one process ended.
type Outcomes struct {
	Process       string
	Ended, Failed int
	Failure       string // how the last one failed
}

// OutcomesOf counts by process, in the order in which the processes first ended a reconcile.
func OutcomesOf(events []history.Event) (out []Outcomes) {
	for i := range events {
		e := &events[i]
		if e.Kind != history.Done {
			continue
		}
		o := Outcomes{Process: e.Process, Ended: 1}
		if e.Outcome.Failed() {
			o.Failed, o.Failure = 1, e.Outcome.String()
		}
		out = AddOutcomes(out, o)
	}
	return out
}

// AddOutcomes adds one count to those of all processes.
func AddOutcomes(all []Outcomes, o Outcomes) []Outcomes {
	at := slices.IndexFunc(all, func(have Outcomes) bool { return have.Process == o.Process })
	if at < 0 {
		return append(all, o)
	}
	all[at].Ended += o.Ended
	all[at].Failed += o.Failed
	if o.Failure != "" {
		all[at].Failure = o.Failure
	}
	return all
}

// Ignored says how many objects of a kind a run made that a real cluster would act upon and nothing
// in the world does.
type Ignored struct {
	Kind     history.Ref
	Made     int
	Watched  bool // a program watched the kind, or wrote a subresource of it, so it acts upon the kind
	Modelled bool // a package of models would act upon them
}

// AddIgnored takes the objects of a kind in one run into those of all runs.
func AddIgnored(all []Ignored, u Ignored) []Ignored {
	at := slices.IndexFunc(all, func(have Ignored) bool { return have.Kind == u.Kind })
	if at < 0 {
		return append(all, u)
	}
	all[at].Made, all[at].Watched = max(all[at].Made, u.Made), all[at].Watched || u.Watched
	return all
}

// Waits counts the lags of a fault that met a program which waited for its own write to appear in
// its cache.
type Waits struct {
	Fault     string
	Cut       int           // lags that ended before the wait
	Longest   time.Duration // the longest of them
	Outlasted int           // lags during which a wait ended
}

// AddWaits adds the counts of one fault to those of all.
func AddWaits(all []Waits, w Waits) []Waits {
	at := slices.IndexFunc(all, func(have Waits) bool { return have.Fault == w.Fault })
	if at < 0 {
		return append(all, w)
	}
	all[at].Cut += w.Cut
	all[at].Longest = max(all[at].Longest, w.Longest)
	all[at].Outlasted += w.Outlasted
	return all
}

// Unmodelled is a sort of request that the API model refuses although a real server does not.
type Unmodelled struct {
	Process, Request string
	Source           string // the program's line that sent it first; "" if it is not known
	What             string // that the model lacks
}

// UnmodelledOf finds the requests of programs that were refused so, the first of each sort. begins
// is how the message of such a refusal begins.
func UnmodelledOf(events []history.Event, begins string) (out []Unmodelled) {
	for i := range events {
		e := &events[i]
		if e.Kind != history.Request || e.Incarnation == 0 || e.Code != http.StatusNotImplemented || e.Host != "" {
			continue
		}
		var status struct{ Message string }
		_ = json.Unmarshal(e.Received, &status) // else the message is empty, and nothing is said
		if what, ok := strings.CutPrefix(status.Message, begins); ok {
			out = AddUnmodelled(out, Unmodelled{e.Process, sortOf(e), e.Source, what})
		}
	}
	return out
}

// AddUnmodelled adds a sort of request that is not among the others.
func AddUnmodelled(all []Unmodelled, u Unmodelled) []Unmodelled {
	if slices.ContainsFunc(all, func(o Unmodelled) bool { return o.Process == u.Process && o.Request == u.Request }) {
		return all
	}
	return append(all, u)
}

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
