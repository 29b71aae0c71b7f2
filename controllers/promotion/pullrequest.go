// This file exists to speak to the forge: how a promotion is ordered over HTTP, and how one that may have been ordered
// before is looked up.

package promotion

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// order is the body of the request that opens a pull request.
type order struct {
	Branch string `json:"branch"`
	Base   string `json:"base,omitempty"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	// IdempotencyKey makes the order safe to repeat: the forge carries out one order for each key.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`

	// What is promoted, for the forge's books.
	Pipeline    string `json:"pipeline"`
	PipelineUID string `json:"pipelineUID"`
	Environment string `json:"environment"`
	Revision    string `json:"revision"`
	Episode     int64  `json:"episode,omitempty"`

	// strategy is the means; its repository is the part of the URL that is not in the body.
	strategy v1alpha1.Strategy
}

// pullReply is what the forge says of a pull request.
type pullReply struct {
	URL   string `json:"url"`
	State string `json:"state"`
}

// order describes the pull request for a decision. The branch is the same for every revision, so a newer revision
// takes over the pull request of an older one.
func (p *pass) order(d decision) order {
	pl := p.pipeline
	strategy := pl.Spec.PolicyFor(d.env).Strategy
	if !p.r.policy.guarded {
		// The original asks the environment whether to promote and the pipeline how, and panics if that does not say.
		strategy = (*pl.Spec.Promotion).Strategy
	}
	o := order{
		Branch:      fmt.Sprintf("promote-%s-%s-%s", pl.Namespace, pl.Name, d.env.Name),
		Title:       fmt.Sprintf("Promote %s/%s in %s to %s", pl.Namespace, pl.Name, d.env.Name, d.revision),
		Body:        fmt.Sprintf("The environment before %s runs %s and is ready.", d.env.Name, d.revision),
		Pipeline:    pl.Namespace + "/" + pl.Name,
		PipelineUID: string(pl.UID),
		Environment: d.env.Name,
		Revision:    d.revision,
		strategy:    strategy,
	}
	if repository := strategy.PullRequest; repository != nil {
		o.Base = repository.BaseBranch
	}
	return o
}

// openPullRequest orders a promotion by a pull request.
func (p *pass) openPullRequest(ctx context.Context, o order) (*v1alpha1.PullRequest, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var reply pullReply
	if err := p.r.callForge(ctx, http.MethodPost, o.strategy.PullRequest, "", body, &reply); err != nil {
		return nil, err
	}
	return &v1alpha1.PullRequest{URL: reply.URL, State: reply.State}, nil
}

// findPullRequest looks for the pull request that an order with this key has led to, and returns nil if there is none.
func (p *pass) findPullRequest(ctx context.Context, o order) (*v1alpha1.PullRequest, error) {
	var replies []pullReply
	query := "?key=" + url.QueryEscape(o.IdempotencyKey)
	if err := p.r.callForge(ctx, http.MethodGet, o.strategy.PullRequest, query, nil, &replies); err != nil {
		return nil, err
	}
	if len(replies) == 0 {
		return nil, nil
	}
	return &v1alpha1.PullRequest{URL: replies[0].URL, State: replies[0].State}, nil
}

// callForge makes one call about the pull requests of a repository.
func (r *Reconciler) callForge(ctx context.Context, method string, repo *v1alpha1.PullRequestStrategy, query string, body []byte, into any) error {
	if r.policy.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.policy.timeout)
		defer cancel()
	}
	target, err := r.pullsURL(repo.URL)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, target+query, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := r.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return fmt.Errorf("reading the forge's answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("the forge answered %d: %s", resp.StatusCode, strings.TrimSpace(string(reply)))
	}
	return json.Unmarshal(reply, into)
}

// pullsURL is the address of a repository's pull requests, from the URL under which people know the repository.
func (r *Reconciler) pullsURL(repository string) (string, error) {
	u, err := url.Parse(repository)
	if err != nil {
		return "", fmt.Errorf("the repository URL %q: %w", repository, err)
	}
	path := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
	if u.Host == "" || len(path) != 2 {
		return "", fmt.Errorf("the repository URL %q is not of the form https://host/owner/name", repository)
	}
	base := strings.TrimSuffix(r.Forge, "/")
	if base == "" {
		base = u.Scheme + "://" + u.Host
	}
	return fmt.Sprintf("%s/repos/%s/%s/pulls", base, path[0], path[1]), nil
}
