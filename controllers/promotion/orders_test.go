// This file tests the means of promotion, over a fake client.

package promotion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
)

// notifying is an order of a pipeline that promotes by Events.
func notifying(strict bool) (*Reconciler, order) {
	pipeline := &v1alpha1.Pipeline{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"}}
	return &Reconciler{Client: fake.NewClientBuilder().Build(), policy: policy{guarded: strict}},
		newOrder(pipeline, "staging", "v1", v1alpha1.Strategy{Notification: &v1alpha1.NotificationStrategy{}})
}

func events(t *testing.T, c client.Client) int {
	t.Helper()
	var list corev1.EventList
	if err := c.List(context.Background(), &list); err != nil {
		t.Fatal(err)
	}
	return len(list.Items)
}

func TestAnEventIsRepeatedWithoutAKeyOnly(t *testing.T) {
	for key, want := range map[string]int{"": 2, "web-0123": 1} {
		r, o := notifying(true)
		o.IdempotencyKey = key
		for range 2 {
			if _, err := r.give(context.Background(), o); err != nil {
				t.Fatal(err)
			}
		}
		if n := events(t, r.Client); n != want {
			t.Errorf("with key %q two orders make %d Events, not %d", key, n, want)
		}
	}
}

func TestAnOrderIsFoundByItsKey(t *testing.T) {
	r, o := notifying(true)
	o.IdempotencyKey = "web-0123"
	for _, want := range []bool{false, true} {
		if found, _, err := r.find(context.Background(), r.Client, o); found != want || err != nil {
			t.Errorf("found: %v, %v; want %v", found, err, want)
		}
		if _, err := r.give(context.Background(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoMeansAtAll(t *testing.T) {
	for _, strict := range []bool{false, true} {
		r, o := notifying(strict)
		o.Strategy = v1alpha1.Strategy{}
		if _, err := r.give(context.Background(), o); (err != nil) != strict {
			t.Errorf("strict is %v, and without a strategy: %v", strict, err)
		}
	}
}

func TestOnlyAPlainRefusalIsOne(t *testing.T) {
	events := schema.GroupResource{Resource: "events"}
	for _, c := range []struct {
		err  error
		want bool
	}{
		{&refusal{http.StatusNotFound, "no such repository"}, true},
		{fmt.Errorf("ordering: %w", &refusal{http.StatusUnprocessableEntity, "no"}), true},
		{&refusal{http.StatusRequestTimeout, "slow"}, false},
		{&refusal{http.StatusConflict, "there is one"}, false},
		{&refusal{http.StatusBadGateway, "perhaps"}, false},
		{errors.New("connection reset"), false},
		{apierrors.NewForbidden(events, "x", nil), true},
		{apierrors.NewTimeoutError("slow", 1), false},
		{apierrors.NewInternalError(errors.New("x")), false},
	} {
		if got := refused(c.err); got != c.want {
			t.Errorf("%v: refused is %v", c.err, got)
		}
	}
}

// forge answers each request with a code.
type forge int

func (f forge) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(f), Body: io.NopCloser(strings.NewReader("no"))}, nil
}

// ordering is a pass over a pipeline, and a guard; its forge answers each order with a code.
func ordering(t *testing.T, code int) (*pass, *v1alpha1.Promotion) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	pipeline := &v1alpha1.Pipeline{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "u1"},
		Spec: *threeEnvironments()}
	guard := newGuard(pipeline, "staging", "v1", 1)
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(pipeline, guard).
		WithStatusSubresource(pipeline, guard).Build()
	p := &pass{r: &Reconciler{Client: c, HTTP: &http.Client{Transport: forge(code)}, policy: policies()[V8]}}
	for _, o := range []client.Object{pipeline, guard} {
		if err := c.Get(context.Background(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
	}
	p.pipeline, p.written = pipeline, pipeline.DeepCopy()
	return p, guard
}

func TestAStatusIsWrittenOnlyAsItWasRead(t *testing.T) {
	p, _ := ordering(t, http.StatusOK)
	other := p.pipeline.DeepCopy()
	other.Labels = map[string]string{"edited": "meanwhile"}
	if err := p.r.Client.Update(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	p.pipeline.Status.ObservedGeneration = 7
	if err := p.write(context.Background()); !apierrors.IsConflict(err) {
		t.Errorf("writing a status that was read before another write: %v; want a conflict", err)
	}
}

func TestEachPromotionHasItsOwnBranch(t *testing.T) {
	p, guard := ordering(t, http.StatusOK)
	d := decision{Revision: "v1", Env: &p.pipeline.Spec.Environments[1]}
	next := newGuard(p.pipeline, "staging", "v2", 2)
	one, two := p.keyed(d, guard, &v1alpha1.Strategy{}), p.keyed(d, next, &v1alpha1.Strategy{})
	if one.Branch == two.Branch || one.IdempotencyKey == two.IdempotencyKey {
		t.Errorf("the orders %+v and %+v share a branch or a key", one, two)
	}
}

// After a refusal the next order may go to another forge only if no earlier one may still arrive.
func TestARefusedOrderMayGoElsewhere(t *testing.T) {
	at := v1alpha1.Strategy{PullRequest: &v1alpha1.PullRequestStrategy{URL: "https://git.example/acme/shop"}}
	for _, c := range []struct {
		name  string
		code  int
		claim *v1alpha1.Strategy
		may   bool
	}{
		{"the first is refused", http.StatusNotFound, nil, true},
		{"the first may have arrived", http.StatusBadGateway, nil, false},
		{"another went there before", http.StatusNotFound, &at, false},
	} {
		p, guard := ordering(t, c.code)
		guard.Status.Strategy = c.claim
		if _, err := p.attempt(context.Background(), guard, order{Strategy: at}); err != nil {
			t.Fatal(err)
		}
		if may := guard.Status.Strategy == nil; may != c.may {
			t.Errorf("%s: the next order may go elsewhere: %v, want %v", c.name, may, c.may)
		}
		if left := untilLost(guard); left <= lateOrder-time.Minute || left > lateOrder {
			t.Errorf("%s: the order is lost after %v, not after %v", c.name, left, lateOrder)
		}
	}
}
