// This file gives orders for promotions: pull requests of a forge, or Events, on which a CI outside
// acts, once for each Event.

package promotion

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// Of an Event that asks for a promotion.
const (
	// PromoteReason is its reason.
	PromoteReason = "Promote"
	// EnvironmentAnnotation and RevisionAnnotation say what is to be promoted, for the CI.
	EnvironmentAnnotation = "pipelines.weave.works/environment"
	RevisionAnnotation    = "pipelines.weave.works/revision"
)

// order is what is ordered, and the body of the request that opens a pull request.
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

	// Strategy is the means; its repository is the part of the URL that is not in the body.
	Strategy v1alpha1.Strategy `json:"-"`
	of       *v1alpha1.Pipeline
}

// newOrder describes the pull request for a promotion. The branch is the same for every revision,
// so a newer revision takes over the pull request of an older one.
func newOrder(of *v1alpha1.Pipeline, env, revision string, strategy v1alpha1.Strategy) order {
	o := order{
		Branch:      fmt.Sprintf("promote-%s-%s-%s", of.Namespace, of.Name, env),
		Title:       fmt.Sprintf("Promote %s/%s in %s to %s", of.Namespace, of.Name, env, revision),
		Body:        fmt.Sprintf("The environment before %s runs %s and is ready.", env, revision),
		Pipeline:    of.Namespace + "/" + of.Name,
		PipelineUID: string(of.UID),
		Environment: env,
		Revision:    revision,
		Strategy:    strategy,
		of:          of,
	}
	if repository := strategy.PullRequest; repository != nil {
		o.Base = repository.BaseBranch
	}
	return o
}

// give orders a promotion by the means that its policy names. An error says that no answer
// confirmed it, not that nothing happened.
func (r *Reconciler) give(ctx context.Context, o order) (*v1alpha1.PullRequest, error) {
	switch s := o.Strategy; {
	case s.PullRequest != nil:
		return r.openPullRequest(ctx, o)
	case s.Notification != nil:
		return nil, r.notify(ctx, o)
	case r.policy.guarded: // in the original it is a success
		return nil, errors.New("the policy names no strategy")
	}
	return nil, nil
}

// find looks for what became of an order that may have been given before.
func (r *Reconciler) find(ctx context.Context, reader client.Reader, o order) (found bool, pr *v1alpha1.PullRequest,
	err error) {
	switch s := o.Strategy; {
	case s.PullRequest != nil:
		reply, err := r.findPullRequest(ctx, s.PullRequest, o.IdempotencyKey)
		if reply == nil || err != nil {
			return false, nil, err
		}
		return true, reply.pullRequest(), nil
	case s.Notification != nil:
		err := reader.Get(ctx, types.NamespacedName{Namespace: o.of.Namespace, Name: o.IdempotencyKey}, &corev1.Event{})
		return err == nil, nil, client.IgnoreNotFound(err)
	}
	return false, nil, nil
}

// notify creates the Event. With a key, the key is its name, so that the API server makes it safe
// to repeat. Without a key its name differs each time, as with any recorder.
func (r *Reconciler) notify(ctx context.Context, o order) error {
	pl, now := o.of, metav1.NewTime(time.Now())
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   pl.Namespace,
			Name:        cmp.Or(o.IdempotencyKey, fmt.Sprintf("%s.%x", pl.Name, now.UnixNano())),
			Annotations: map[string]string{EnvironmentAnnotation: o.Environment, RevisionAnnotation: o.Revision},
		},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "Pipeline", Namespace: pl.Namespace, Name: pl.Name,
			UID: pl.UID,
		},
		Type: corev1.EventTypeNormal, Reason: PromoteReason, Message: o.Title,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}
	err := r.Client.Create(ctx, event)
	if o.IdempotencyKey != "" && apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

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
func (r *Reconciler) closePullRequest(ctx context.Context, repo *v1alpha1.PullRequestStrategy,
	key string) (*v1alpha1.PullRequest, error) {
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
