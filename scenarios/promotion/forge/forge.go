// This file exists for the forge's state and its rules: what an order does to the pull requests,
// and what people do.

package forge

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/wavetank/wavetank/history"
)

// The kinds of ledger entries that a forge makes.
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

// Order is the body of a POST: what the pull request looks like, and which promotion it stands for.
type Order struct {
	// Branch is where the change is pushed. An open pull request from that branch is taken over and
	// retitled.
	Branch string `json:"branch"`
	Base   string `json:"base,omitempty"`
	Title  string `json:"title"`
	Body   string `json:"body,omitempty"`
	// IdempotencyKey, if set, makes a repeated order return the pull request of the first, and
	// change nothing.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`

	// Pipeline is namespace/name, for people.
	Pipeline    string `json:"pipeline,omitempty"`
	PipelineUID string `json:"pipelineUID"`
	Environment string `json:"environment"`
	Revision    string `json:"revision"`
	// Episode counts the stays at a revision; 0 when the caller does not.
	Episode int64 `json:"episode,omitempty"`
}

// Key identifies the promotion in the ledger: pipelineUID/environment/revision, and /episode where
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
	Repository string `json:"repository"` // owner/name
	Number     int    `json:"number"`     // counted over the whole forge
	URL        string `json:"url"`
	State      State  `json:"state"`
	// Order is the latest order that it carries out.
	Order Order `json:"order"`
	// Keys are the idempotency keys of all orders that it has carried out, oldest first.
	Keys []string `json:"keys,omitempty"`
	// Pushes counts the orders carried out. Each pushes to the branch: checks run again, approvals
	// are dismissed.
	Pushes int `json:"pushes"`
}

// Forge is the model. Make one with New for each run.
type Forge struct {
	routes *http.ServeMux

	mu    sync.Mutex
	pulls []*PullRequest
	// known maps ledger keys to the first order that had them, to name a promotion without its uid.
	known map[string]Order
}

// New returns a forge without pull requests. Any repository exists.
func New() *Forge {
	f := &Forge{known: map[string]Order{}}
	f.routes = f.newRoutes()
	return f
}

// PullRequests returns copies of all pull requests, oldest first.
func (f *Forge) PullRequests() []PullRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []PullRequest
	for _, pr := range f.pulls {
		out = append(out, pr.copy())
	}
	return out
}

// Ordered returns the first order with a ledger key: which promotion an entry of the ledger is
// about.
func (f *Forge) Ordered(key string) (Order, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o, ok := f.known[key]
	return o, ok
}

// Merge merges an open pull request, as a person would.
func (f *Forge) Merge(number int) error { return f.closeAs(number, Merged) }

// Abandon closes an open pull request without merging it.
func (f *Forge) Abandon(number int) error { return f.closeAs(number, Abandoned) }

func (f *Forge) closeAs(number int, state State) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.pulls, func(pr *PullRequest) bool { return pr.Number == number })
	if i < 0 {
		return fmt.Errorf("forge: there is no pull request %d", number)
	}
	if pr := f.pulls[i]; pr.State != Open {
		return fmt.Errorf("forge: pull request %d is %s, not open", number, pr.State)
	}
	f.pulls[i].State = state
	return nil
}

// withdraw closes a pull request of a repository, unless it is closed already, and returns it;
// false if there is none.
func (f *Forge) withdraw(repository, number string) (PullRequest, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pr := f.find(func(pr *PullRequest) bool { return pr.Repository == repository && fmt.Sprint(pr.Number) == number })
	if pr == nil {
		return PullRequest{}, false
	}
	if pr.State == Open {
		pr.State = Abandoned
	}
	return pr.copy(), true
}

// carryOut applies an accepted order and reports the pull request, and whether it is new.
func (f *Forge) carryOut(ctx context.Context, host, repository string, o Order) (PullRequest, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := o.Key()
	if _, ok := f.known[key]; !ok {
		f.known[key] = o
	}
	history.AddEffect(ctx, history.Effect{Kind: Attempt, Key: key, Detail: o.String() + " is ordered"})

	if pr := f.find(func(pr *PullRequest) bool {
		return pr.Repository == repository && o.IdempotencyKey != "" && slices.Contains(pr.Keys, o.IdempotencyKey)
	}); pr != nil {
		return pr.copy(), false
	}

	pr := f.find(func(pr *PullRequest) bool {
		return pr.Repository == repository && pr.State == Open && pr.Order.Branch == o.Branch
	})
	created := pr == nil
	verb := "pushes to"
	if created {
		number := len(f.pulls) + 1
		pr = &PullRequest{
			Repository: repository,
			Number:     number,
			URL:        fmt.Sprintf("https://%s/%s/pull/%d", host, repository, number),
			State:      Open,
		}
		f.pulls = append(f.pulls, pr)
		verb = "opens"
	}
	pr.Order = o
	pr.Pushes++
	if o.IdempotencyKey != "" {
		pr.Keys = append(pr.Keys, o.IdempotencyKey)
	}
	history.AddEffect(ctx, history.Effect{
		Kind: Effect, Key: key, Detail: fmt.Sprintf("%s %s pull request %d", o, verb, pr.Number),
	})
	return pr.copy(), created
}

// list returns copies of the matching pull requests of a repository, oldest first. Empty criteria
// match all.
func (f *Forge) list(repository, branch, key string) []PullRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []PullRequest{}
	for _, pr := range f.pulls {
		if pr.Repository == repository && (branch == "" || pr.Order.Branch == branch) &&
			(key == "" || slices.Contains(pr.Keys, key)) {
			out = append(out, pr.copy())
		}
	}
	return out
}

// find returns the first pull request that matches, or nil. The caller holds the lock.
func (f *Forge) find(matches func(*PullRequest) bool) *PullRequest {
	for _, pr := range f.pulls {
		if matches(pr) {
			return pr
		}
	}
	return nil
}

func (p *PullRequest) copy() PullRequest {
	out := *p
	out.Keys = slices.Clone(p.Keys)
	return out
}
