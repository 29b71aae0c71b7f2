// This file holds operators that work with services outside the cluster.

package correct

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/property"
)

func externalOperators() []Operator {
	return []Operator{
		{"account", "a finalizer, and an outside account with an idempotency key", account},
		{"token", "a token of an outside service that answers Retry-After at first", token},
		{"two-phase", "a random key is recorded before the outside effect, and used again after a crash", twoPhase},
		{"poller", "a goroutine polls an outside service and wakes the controller through a channel", poller},
	}
}

// caller sends requests to a service outside.
type caller struct{ http *http.Client }

func (r caller) call(c context.Context, method, url, idempotency string) (*http.Response, string, error) {
	req, err := http.NewRequestWithContext(c, method, url, strings.NewReader("{}"))
	if err != nil {
		return nil, "", err
	}
	if idempotency != "" {
		req.Header.Set("Idempotency-Key", idempotency)
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

// expect is call for those to whom every other answer is an error.
func (r caller) expect(c context.Context, method, url, idempotency string, codes ...int) (string, error) {
	resp, body, err := r.call(c, method, url, idempotency)
	if err != nil {
		return "", err
	}
	for _, code := range codes {
		if resp.StatusCode == code {
			return body, nil
		}
	}
	return "", fmt.Errorf("%s %s is answered with %s", method, url, resp.Status)
}

// bank keeps accounts: POST /accounts opens one for each idempotency key, DELETE /accounts/<key>
// closes it.
type bank struct{ open map[string]string }

func (b *bank) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Idempotency-Key")
	switch r.Method {
	case http.MethodPost:
		if _, ok := b.open[key]; !ok {
			b.open[key] = "account-" + key
			history.AddEffect(r.Context(), history.Effect{Kind: "open", Key: key})
		}
		io.WriteString(rw, b.open[key]) //nolint:errcheck // it is a recorder
	case http.MethodDelete:
		key = strings.TrimPrefix(r.URL.Path, "/accounts/")
		if b.open[key] == "" {
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		b.open[key] = ""
		history.AddEffect(r.Context(), history.Effect{Kind: "close", Key: key})
	}
}

// customer opens an account for each Widget, and closes it before the Widget goes.
type customer struct {
	client.Client
	caller
}

const accountFinalizer = "correct.example/account"

func (r customer) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	key := string(w.UID)
	if !w.DeletionTimestamp.IsZero() {
		if !controllerutil.ContainsFinalizer(&w, accountFinalizer) {
			return ctrl.Result{}, nil
		}
		if _, err := r.expect(c, http.MethodDelete, "http://bank.example/accounts/"+key, "", 200, 404); err != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(&w, accountFinalizer)
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(c, &w))
	}
	if controllerutil.AddFinalizer(&w, accountFinalizer) {
		if err := r.Update(c, &w); err != nil {
			return ctrl.Result{}, err
		}
	}
	id := w.Status.ID
	if id == "" {
		var err error
		if id, err = r.expect(c, http.MethodPost, "http://bank.example/accounts", key, 200); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.ID = id })
}

func account(w *stage) {
	b := &bank{map[string]string{}}
	w.External("bank.example", b)
	w.start("customer", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("customer").For(&Widget{}).
			Complete(customer{mgr.GetClient(), caller{sim.HTTPClient(mgr)}})
	})
	w.disturb(outside()...)
	w.promise()
	w.Always("an account is opened once", property.AtMostOnce("open"))
	w.Always("an account is closed once", property.AtMostOnce("close"))
	w.finally("it has an account", "a", func(_ *history.History, a *Widget) error {
		if a.Status.ID == "" || b.open[string(a.UID)] != a.Status.ID {
			return fmt.Errorf("the status has %q and the bank %q", a.Status.ID, b.open[string(a.UID)])
		}
		return nil
	})
	w.Eventually("no account is left behind", func(h *history.History) error {
		open := 0
		for _, id := range b.open {
			if id != "" {
				open++
			}
		}
		if n := len(h.Objects(group.Group, "Widget")); n != open {
			return fmt.Errorf("there are %d Widgets and %d open accounts", n, open)
		}
		return nil
	})
	w.usualWithFinalizer()
}

// vault issues a token for each name, once it has been asked for the third time.
type vault struct{ asked map[string]int }

func (v *vault) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/tokens/")
	if v.asked[name]++; v.asked[name] < 3 {
		rw.Header().Set("Retry-After", "30")
		rw.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	io.WriteString(rw, "token of "+name) //nolint:errcheck // it is a recorder
}

// holder keeps a token in a Secret. The service says when it may be asked again.
type holder struct {
	client.Client
	caller
}

func (r holder) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || !w.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	secret := &corev1.Secret{ObjectMeta: named(w.Name + "-token")}
	err := r.Get(c, client.ObjectKeyFromObject(secret), secret)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if string(secret.Data["for"]) != w.Spec.Text {
		resp, body, err := r.call(c, http.MethodPost, "http://vault.example/tokens/"+w.Spec.Text, "")
		if err != nil {
			return ctrl.Result{}, err
		}
		if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
			return ctrl.Result{RequeueAfter: time.Duration(seconds) * time.Second}, nil
		}
		if resp.StatusCode != http.StatusOK {
			return ctrl.Result{}, errors.New(resp.Status)
		}
		if _, err := controllerutil.CreateOrUpdate(c, r.Client, secret, func() error {
			secret.Data = map[string][]byte{"token": []byte(body), "for": []byte(w.Spec.Text)}
			return controllerutil.SetControllerReference(&w, secret, r.Scheme())
		}); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "Ready" })
}

func token(w *stage) {
	w.External("vault.example", &vault{map[string]int{}})
	w.start("holder", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("holder").For(&Widget{}).Owns(&corev1.Secret{}).
			Complete(holder{mgr.GetClient(), caller{sim.HTTPClient(mgr)}})
	})
	w.disturb(outside()...)
	w.promise()
	w.finally("it has the token", "a", func(h *history.History, a *Widget) error {
		var secret corev1.Secret
		if into(h, "", "Secret", ns, "a-token", &secret); string(secret.Data["token"]) != "token of "+a.Spec.Text {
			return fmt.Errorf("the Secret has %q", secret.Data["token"])
		}
		return nil
	})
	w.usual()
}

// payer records a random key first, so that a second attempt is known to be the same payment.
type payer struct {
	client.Client
	caller
}

func (r payer) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	err := r.Get(c, req.NamespacedName, &w)
	if err != nil || !w.DeletionTimestamp.IsZero() || w.Status.Phase == "Paid" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if w.Status.ID == "" {
		// With a stale cache this is a conflict: another key may be there already.
		return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.ID = string(uuid.NewUUID()) })
	}
	if _, err := r.expect(c, http.MethodPost, "http://bank.example/accounts", w.Status.ID, 200); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "Paid" })
}

func twoPhase(w *stage) {
	b := &bank{map[string]string{}}
	w.External("bank.example", b)
	w.start("payer", ctrl.Options{}, func(mgr ctrl.Manager) error {
		return ctrl.NewControllerManagedBy(mgr).Named("payer").For(&Widget{}).
			Complete(payer{mgr.GetClient(), caller{sim.HTTPClient(mgr)}})
	})
	w.disturb(outside()...)
	w.promise(observed) // what is paid is not looked at again
	w.Always("each key pays once", property.AtMostOnce("open"))
	w.Eventually("each Widget is paid once", func(h *history.History) error {
		for _, o := range h.Objects(group.Group, "Widget") {
			var one Widget
			if o.Into(&one) != nil || one.Status.Phase != "Paid" || b.open[one.Status.ID] == "" {
				return fmt.Errorf("%s has the status %+v", o.Ref.Name, one.Status)
			}
		}
		if n := len(h.Objects(group.Group, "Widget")); n > 0 && len(b.open) != n {
			return fmt.Errorf("there are %d payments", len(b.open))
		}
		return nil
	})
	a, other := widget("a", WidgetSpec{Text: "red"}), widget("b", WidgetSpec{Text: "blue"})
	w.Apply(a, other)
	w.Settle()
	w.edit("a", func(o *Widget) { o.Spec.Text = "green" })
	w.Settle()
	w.restart()
}

// device has done a job when it has been asked for all jobs three times since.
type device struct{ asked map[string]int }

func (d *device) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/jobs/")
	if r.Method == http.MethodPut {
		if _, started := d.asked[name]; !started {
			d.asked[name] = 0
			history.AddEffect(r.Context(), history.Effect{Kind: "job", Key: name})
		}
		return
	}
	var done []string
	for _, job := range slices.Sorted(maps.Keys(d.asked)) {
		if d.asked[job]++; d.asked[job] >= 3 {
			done = append(done, job)
		}
	}
	io.WriteString(rw, strings.Join(done, " ")) //nolint:errcheck // it is a recorder
}

// worker starts a job for each Widget. A goroutine polls which jobs are done.
type worker struct {
	client.Client
	caller
	mu   sync.Mutex
	done map[string]bool
}

func (r *worker) Reconcile(c context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.Get(c, req.NamespacedName, &w); err != nil || w.Status.Phase == "done" {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	r.mu.Lock()
	done := r.done[w.Name]
	r.mu.Unlock()
	if done {
		return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "done" })
	}
	if w.Status.Phase == "" {
		if _, err := r.expect(c, http.MethodPut, "http://device.example/jobs/"+w.Name, "", http.StatusOK); err != nil {
			return ctrl.Result{}, err
		}
	}
	return ctrl.Result{}, writeStatus(c, r.Client, &w, func(s *WidgetStatus) { s.Phase = "working" })
}

// poll asks every 15 s, and wakes the controller for each job that is done.
func (r *worker) poll(wake chan<- event.GenericEvent) manager.RunnableFunc {
	return func(c context.Context) error {
		wait.UntilWithContext(c, func(c context.Context) {
			body, err := r.expect(c, http.MethodGet, "http://device.example/jobs", "", http.StatusOK)
			if err != nil {
				return // the next poll tries again
			}
			for _, job := range strings.Fields(body) {
				r.mu.Lock()
				news := !r.done[job]
				r.done[job] = true
				r.mu.Unlock()
				if !news {
					continue
				}
				select {
				case <-c.Done():
				case wake <- event.GenericEvent{Object: widget(job, WidgetSpec{})}:
				}
			}
		}, 15*time.Second)
		return nil
	}
}

func poller(w *stage) {
	w.External("device.example", &device{map[string]int{}})
	w.start("worker", ctrl.Options{}, func(mgr ctrl.Manager) error {
		r := &worker{Client: mgr.GetClient(), caller: caller{sim.HTTPClient(mgr)}, done: map[string]bool{}}
		wake := make(chan event.GenericEvent)
		if err := mgr.Add(r.poll(wake)); err != nil {
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).Named("worker").For(&Widget{}).
			WatchesRawSource(source.Channel(wake, &handler.EnqueueRequestForObject{})).Complete(r)
	})
	w.disturb(outside()...)
	w.promise(observed) // what is done is not looked at again
	w.Always("each job is started once", property.AtMostOnce("job"))
	w.Eventually("every job is done", func(h *history.History) error {
		for _, o := range h.Objects(group.Group, "Widget") {
			var one Widget
			if o.Into(&one) != nil || one.Status.Phase != "done" {
				return fmt.Errorf("%s has the status %+v", o.Ref.Name, one.Status)
			}
		}
		return nil
	})
	w.Apply(widget("a", WidgetSpec{}), widget("b", WidgetSpec{}))
	w.Settle()
	w.Apply(widget("c", WidgetSpec{}))
	w.Settle()
	w.restart()
}
