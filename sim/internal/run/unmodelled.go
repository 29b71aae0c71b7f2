package run

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

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
