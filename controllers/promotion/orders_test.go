// This file tests the means of promotion, over a fake client.

package promotion

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
