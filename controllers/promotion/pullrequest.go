// This file exists to speak to the forge: how a promotion is ordered over HTTP, and how one that
// may have been ordered before is looked up.

package promotion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

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

	// What is promoted, for the forge's record.
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
	Number int    `json:"number"`
	URL    string `json:"url"`
	State  string `json:"state"`
}

func (r pullReply) pullRequest() *v1alpha1.PullRequest {
	return &v1alpha1.PullRequest{URL: r.URL, State: r.State}
}

// openState is the state of a pull request that somebody could merge.
const openState = "open"

// refusal is an answer of the forge that is not the one hoped for.
type refusal struct {
	code int
	says string
}

func (r *refusal) Error() string { return fmt.Sprintf("the forge answered %d: %s", r.code, r.says) }

// refused says whether an error means that an order was not carried out, and never will be. A
// time-out, a conflict and an error of the receiver's own mean nothing of the kind.
func refused(err error) bool {
	var r *refusal
	if errors.As(err, &r) {
		return r.code/100 == 4 && r.code != http.StatusRequestTimeout && r.code != http.StatusConflict
	}
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
}

// order describes the pull request for a decision. The branch is the same for every revision, so a
// newer revision takes over the pull request of an older one.
func (p *pass) order(d decision, strategy v1alpha1.Strategy) order {
	pl := p.pipeline
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
	return reply.pullRequest(), nil
}

// findPullRequest looks for the pull request that an order with this key has led to, and returns
// nil if there is none.
func (p *pass) findPullRequest(ctx context.Context, repo *v1alpha1.PullRequestStrategy, key string) (*pullReply,
	error) {
	var replies []pullReply
	if err := p.r.callForge(ctx, http.MethodGet, repo, "?key="+url.QueryEscape(key), nil, &replies); err != nil {
		return nil, err
	}
	if len(replies) == 0 {
		return nil, nil
	}
	return &replies[0], nil
}

// closePullRequest closes a pull request, so that nobody merges it any more. It may be repeated.
func (p *pass) closePullRequest(ctx context.Context, repo *v1alpha1.PullRequestStrategy, found *pullReply) (*pullReply,
	error) {
	var reply pullReply
	at := fmt.Sprintf("/%d", found.Number)
	if err := p.r.callForge(ctx, http.MethodPatch, repo, at, []byte(`{"state":"closed"}`), &reply); err != nil {
		return nil, err
	}
	return &reply, nil
}

// callForge makes one call about the pull requests of a repository.
func (r *Reconciler) callForge(ctx context.Context, method string, repo *v1alpha1.PullRequestStrategy, rest string,
	body []byte, into any) error {
	if r.policy.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.policy.timeout)
		defer cancel()
	}
	target, err := r.pullsURL(repo.URL)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, target+rest, bytes.NewReader(body))
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
		return &refusal{resp.StatusCode, strings.TrimSpace(string(reply))}
	}
	return json.Unmarshal(reply, into)
}

// pullsURL is the address of a repository's pull requests, from the URL under which people know the
// repository.
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
