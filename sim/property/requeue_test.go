package property_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/property"
	reported "github.com/wavetank/wavetank/sim/result"
)

// ready asks for the Secret that an object needs.
func (o *operator) ready(c context.Context) (bool, error) {
	err := o.live.Get(c, client.ObjectKey{Namespace: "default", Name: "key"}, &corev1.Secret{})
	return err == nil, client.IgnoreNotFound(err)
}

// waits asks every 10 s for a Secret. The flawed operator continues when it has what it needs.
func waits(w *sim.World, flawed bool) {
	w.Always("NoFutileRequeue", property.NoFutileRequeue(20))
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if ready, err := o.ready(c); err != nil || ready && !flawed {
			return result{}, err
		}
		return result{RequeueAfter: 10 * time.Second}, nil
	}, nil)
	w.Apply(work("a"))
	w.Sleep(time.Minute)
	w.Apply(&corev1.Secret{ObjectMeta: named("key")})
	w.Settle()
	w.Sleep(10 * time.Minute)
	w.Settle()
}

// The message names the key, the times and what to do.
func TestAFutileRequeueIsToldWithItsKey(t *testing.T) {
	f := tried(t, scene{play: waits}, true)
	if f == nil {
		t.Fatal("the futile requeue passes")
	}
	for _, want := range []string{"operator/1 work default/a was reconciled 21 times in a row because of a timer, " +
		"from ",
		`ended with "requeue after 10s"`, "can be watched"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("the message lacks %q: %s", want, f.Message)
		}
	}
}

// requeuing plays an operator for a long time, at rest, with the property on.
func requeuing(t *testing.T, p pass, polling ...string) *reported.Failure {
	return tried(t, scene{play: func(w *sim.World, _ bool) {
		w.Without("settles", "no hot loop")
		w.Always("NoFutileRequeue", property.NoFutileRequeue(20, polling...))
		n := 0
		w.External("outside.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			n++
			fmt.Fprintf(rw, "answer %d", n*len(r.URL.Path)/len("/changing"))
		}))
		start(w, controller.Options{}, p, nil)
		settleWith(w, work("a"))
		w.Sleep(3 * time.Hour)
	}}, false)
}

// Not every requeue is futile.
func TestRequeuesThatAreNotFutile(t *testing.T) {
	after := result{RequeueAfter: 5 * time.Minute}
	ask := func(o *operator, c context.Context, path string) error {
		r, err := http.NewRequestWithContext(c, http.MethodGet, "http://outside.example"+path, nil)
		if err != nil {
			return err
		}
		reply, err := o.http.Do(r)
		if err != nil {
			return err
		}
		return reply.Body.Close()
	}
	for name, p := range map[string]pass{
		"it writes each time": func(o *operator, c context.Context, _ *corev1.ConfigMap) (result, error) {
			return after, o.Create(c,
				&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "n-"}})
		},
		"the outside answers differently": func(o *operator, c context.Context, _ *corev1.ConfigMap) (result, error) {
			return after, ask(o, c, "/changing")
		},
		"it gets news outside of reconciles": func(
			o *operator, c context.Context, _ *corev1.ConfigMap,
		) (result, error) {
			return after, ask(o, context.WithoutCancel(context.Background()), "/changing")
		},
		"it ends after 20 requeues": func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
			if o.seen[cm.Name]++; o.seen[cm.Name] > 21 {
				return result{}, nil
			}
			return after, nil
		},
		"a terminal error": func(o *operator, c context.Context, _ *corev1.ConfigMap) (result, error) {
			return result{}, reconcile.TerminalError(errors.New("it cannot be mended"))
		},
		"its cache hears of another object": func(o *operator, c context.Context, cm *corev1.ConfigMap) (result,
			error) {
			other := work("other")
			if err := o.Create(context.Background(), other); apierrors.IsAlreadyExists(err) {
				return after, o.Delete(context.Background(), other)
			} else if err != nil {
				return result{}, err
			}
			return after, nil
		},
	} {
		if f := requeuing(t, p); f != nil {
			t.Errorf("%s: %s", name, f.Text())
		}
	}
}

// Endless requeues are futile whatever asks for them. A controller that polls by design is left out
// when it is named.
func TestRequeuesThatAreFutile(t *testing.T) {
	for name, p := range map[string]pass{
		"an error that nothing ends": func(*operator, context.Context, *corev1.ConfigMap) (result, error) {
			return result{}, errors.New("out of luck")
		},
		"a write that changes nothing": func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
			return result{RequeueAfter: 5 * time.Minute}, o.Update(c, cm)
		},
		"a list that stays the same": func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
			return result{RequeueAfter: 5 * time.Minute}, o.live.List(c, &corev1.SecretList{})
		},
	} {
		if f := requeuing(t, p); f == nil || f.Property != "NoFutileRequeue" {
			t.Errorf("%s: found %+v", name, f)
		}
		if f := requeuing(t, p, "work"); f != nil {
			t.Errorf("%s, though its controller polls by design: %s", name, f.Text())
		}
	}
}
