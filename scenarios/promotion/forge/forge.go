// Package forge is a model of a git forge: the outside world in which a promotion takes effect. It
// keeps pull requests and nothing else. The model is synchronous, and has no clock and no
// randomness: a request takes effect and is answered in one call. The network between client and
// model adds delays, failures and repetition.
//
// Each order that the forge accepts is in the run's record of effects, which survives crashes.
//
//	POST  /repos/{owner}/{name}/pulls           order a promotion: see [Order]
//	GET   /repos/{owner}/{name}/pulls?key=      list pull requests, by idempotency key
//	PATCH /repos/{owner}/{name}/pulls/{number}  close a pull request; no effect
package forge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/wavetank/wavetank/history"
)

// The kinds of effects that a forge records.
const (
	// Attempt is an order that the forge accepted, whether or not it changed anything.
	Attempt = "attempt"
	// Effect is an order that changed something outside the cluster.
	Effect = "effect"
)

// State is the state of a pull request, in the words that a Pipeline uses.
type State string

// The states of a pull request.
const (
	Open      State = "open"
	Merged    State = "merged"
	Abandoned State = "abandoned"
)

// Order is the body of a POST, as far as the model reads it.
type Order struct {
	// Branch is where the change is pushed. An open pull request from that branch is reused.
	Branch string `json:"branch"`
	// IdempotencyKey, if set, makes a repeated order return the pull request of the first, and
	// change nothing.
	IdempotencyKey string `json:"idempotencyKey"`

	Pipeline    string `json:"pipeline"` // namespace/name
	PipelineUID string `json:"pipelineUID"`
	Environment string `json:"environment"`
	Revision    string `json:"revision"`
	Episode     int64  `json:"episode"` // counts the stays at a revision; 0 if the caller does not
}

// Key identifies the promotion among effects: pipelineUID/environment/revision, and /episode if
// there is one.
func (o Order) Key() string {
	key := o.PipelineUID + "/" + o.Environment + "/" + o.Revision
	if o.Episode != 0 {
		key += fmt.Sprintf("/%d", o.Episode)
	}
	return key
}

// String names the promotion for people, without the uid.
func (o Order) String() string {
	s := fmt.Sprintf("promotion of %s in %s to %s", cmp.Or(o.Pipeline, "a pipeline"), o.Environment, o.Revision)
	if o.Episode != 0 {
		s += fmt.Sprintf(" (episode %d)", o.Episode)
	}
	return s
}

// PullRequest is one pull request.
type PullRequest struct {
	Repository string   `json:"repository"` // owner/name
	Number     int      `json:"number"`     // counted over the whole forge
	URL        string   `json:"url"`
	State      State    `json:"state"`
	Order      Order    `json:"order"` // the latest that it carries out
	Keys       []string `json:"keys"`  // the idempotency keys of all that it has carried out
}

// Forge is the model. Make one with New for each run.
type Forge struct {
	*http.ServeMux
	mu    sync.Mutex
	pulls []*PullRequest
	known map[string]Order // the first order with each key of an effect
}

// New returns a forge without pull requests. Any repository exists.
func New() *Forge {
	f := &Forge{ServeMux: http.NewServeMux(), known: map[string]Order{}}
	f.HandleFunc("POST /repos/{owner}/{name}/pulls", f.order)
	f.HandleFunc("GET /repos/{owner}/{name}/pulls", f.list)
	f.HandleFunc("PATCH /repos/{owner}/{name}/pulls/{number}", f.close)
	return f
}

// PullRequests returns copies of all pull requests, oldest first.
func (f *Forge) PullRequests() (out []PullRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pr := range f.pulls {
		out = append(out, *pr)
	}
	return out
}

// Ordered returns the first order with the key of an effect.
func (f *Forge) Ordered(key string) (Order, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.known[key]
	return o, ok
}

// Merge merges an open pull request, as a person would.
func (f *Forge) Merge(number int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if number < 1 || number > len(f.pulls) || f.pulls[number-1].State != Open {
		return fmt.Errorf("forge: pull request %d is not open", number)
	}
	f.pulls[number-1].State = Merged
	return nil
}

// order carries out an order, and records its effects.
func (f *Forge) order(w http.ResponseWriter, r *http.Request) {
	var o Order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil || o.PipelineUID == "" {
		http.Error(w, fmt.Sprintf("the order %+v names no pipeline: %v", o, err), http.StatusUnprocessableEntity)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key, in := o.Key(), repository(r)
	if _, ok := f.known[key]; !ok {
		f.known[key] = o
	}
	history.AddEffect(r.Context(), history.Effect{Kind: Attempt, Key: key, Detail: o.String() + " is ordered"})
	if before := f.find(in, o.IdempotencyKey); o.IdempotencyKey != "" && len(before) > 0 {
		reply(w, http.StatusOK, before[0])
		return
	}
	code, verb := http.StatusOK, "pushes to"
	i := slices.IndexFunc(f.pulls, func(pr *PullRequest) bool {
		return pr.Repository == in && pr.State == Open && pr.Order.Branch == o.Branch
	})
	if i < 0 {
		i, code, verb = len(f.pulls), http.StatusCreated, "opens"
		url := fmt.Sprintf("https://%s/%s/pull/%d", r.Host, in, i+1)
		f.pulls = append(f.pulls, &PullRequest{Repository: in, Number: i + 1, URL: url, State: Open})
	}
	pr := f.pulls[i]
	pr.Order = o
	if o.IdempotencyKey != "" {
		pr.Keys = append(slices.Clone(pr.Keys), o.IdempotencyKey)
	}
	history.AddEffect(r.Context(), history.Effect{
		Kind: Effect, Key: key, Detail: fmt.Sprintf("%s %s pull request %d", o, verb, pr.Number),
	})
	reply(w, code, pr)
}

// list answers with the pull requests of a repository, oldest first.
func (f *Forge) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	reply(w, http.StatusOK, f.find(repository(r), r.URL.Query().Get("key")))
}

// close closes a pull request, unless it is closed already.
func (f *Forge) close(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, pr := range f.find(repository(r), "") {
		if fmt.Sprint(pr.Number) == r.PathValue("number") {
			if pr.State == Open {
				pr.State = Abandoned
			}
			reply(w, http.StatusOK, pr)
			return
		}
	}
	http.Error(w, "there is no such pull request", http.StatusNotFound)
}

// find returns the pull requests of a repository that have a key, or all if that is empty. The
// caller holds the lock.
func (f *Forge) find(repository, key string) []*PullRequest {
	return slices.DeleteFunc(slices.Clone(f.pulls), func(pr *PullRequest) bool {
		return pr.Repository != repository || key != "" && !slices.Contains(pr.Keys, key)
	})
}

func repository(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("name") }

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the writer is in memory: there is nothing to fail
}
