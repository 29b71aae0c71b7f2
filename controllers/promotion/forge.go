// This file speaks to the forge: how a promotion is ordered over HTTP, and how one that
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

// pullReply is what the forge says of a pull request.
type pullReply struct {
	Number int    `json:"number"`
	URL    string `json:"url"`
	State  string `json:"state"`
}

func (r pullReply) pullRequest() *v1alpha1.PullRequest {
	return &v1alpha1.PullRequest{URL: r.URL, State: r.State}
}

// openState is the state of a pull request that can be merged.
const openState = "open"

// refusal is an answer of the forge that is not the one hoped for.
type refusal struct {
	code int
	says string
}

func (r *refusal) Error() string { return fmt.Sprintf("the forge answered %d: %s", r.code, r.says) }

// refused reports whether an error means that an order was not carried out, and never will be. A
// time-out, a conflict and an error of the receiver's own mean nothing of the kind.
func refused(err error) bool {
	var r *refusal
	if errors.As(err, &r) {
		return r.code/100 == 4 && r.code != http.StatusRequestTimeout && r.code != http.StatusConflict
	}
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err)
}

// openPullRequest orders a promotion by a pull request.
func (r *Reconciler) openPullRequest(ctx context.Context, o order) (*v1alpha1.PullRequest, error) {
	body, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var reply pullReply
	if err := r.callForge(ctx, http.MethodPost, o.Strategy.PullRequest, "", body, &reply); err != nil {
		return nil, err
	}
	return reply.pullRequest(), nil
}

// findPullRequest looks for the pull request that an order with this key has led to, and returns
// nil if there is none.
func (r *Reconciler) findPullRequest(ctx context.Context, repo *v1alpha1.PullRequestStrategy, key string) (*pullReply,
	error) {
	var replies []pullReply
	if err := r.callForge(ctx, http.MethodGet, repo, "?key="+url.QueryEscape(key), nil, &replies); err != nil {
		return nil, err
	}
	if len(replies) == 0 {
		return nil, nil
	}
	return &replies[0], nil
}

// closePullRequest closes the pull request of an order, so that it is not merged, and returns it;
// nil if there is none. It may be repeated.
func (r *Reconciler) closePullRequest(ctx context.Context, repo *v1alpha1.PullRequestStrategy, key string) (*v1alpha1.PullRequest,
	error) {
	found, err := r.findPullRequest(ctx, repo, key)
	if err != nil || found == nil {
		return nil, err
	}
	if found.State == openState {
		at := fmt.Sprintf("/%d", found.Number)
		err = r.callForge(ctx, http.MethodPatch, repo, at, []byte(`{"state":"closed"}`), found)
	}
	return found.pullRequest(), err
}

// callForge makes one call about the pull requests of a repository.
func (r *Reconciler) callForge(ctx context.Context, method string, repo *v1alpha1.PullRequestStrategy, rest string,
	body []byte, into any) error {
	if r.policy.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.policy.timeout)
		defer cancel()
	}
	target, err := pullsURL(repo.URL)
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
func pullsURL(repository string) (string, error) {
	u, err := url.Parse(repository)
	if err != nil {
		return "", fmt.Errorf("the repository URL %q: %w", repository, err)
	}
	path := strings.Split(strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git"), "/")
	if u.Host == "" || len(path) != 2 {
		return "", fmt.Errorf("the repository URL %q is not of the form https://host/owner/name", repository)
	}
	return fmt.Sprintf("%s://%s/repos/%s/%s/pulls", u.Scheme, u.Host, path[0], path[1]), nil
}
