package auto_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"
)

// accounts keeps an account at a provider for each widget.
type accounts struct {
	client.Client
	live      client.Reader
	provider  *http.Client
	reference string // what the provider knows an account by: a way of TestReferences
}

const referenceKey = "example.com/reference"

func (r *accounts) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var w Widget
	if err := r.live.Get(ctx, req.NamespacedName, &w); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	ref := w.Annotations[referenceKey]
	if r.reference == "the UID" {
		ref = string(w.UID)
	}
	if !w.DeletionTimestamp.IsZero() {
		if _, err := r.ask(ctx, http.MethodDelete, "?reference="+ref, nil); err != nil {
			return ctrl.Result{}, err
		}
		controllerutil.RemoveFinalizer(&w, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(r.Update(ctx, &w))
	}
	if ref == "" {
		ref = string(uuid.NewUUID())
		metav1.SetMetaDataAnnotation(&w.ObjectMeta, referenceKey, ref)
	}
	change := controllerutil.AddFinalizer(&w, finalizer) || r.reference != "the UID" && w.Status.Config == ""
	if change && r.reference != "used before it is recorded" {
		return ctrl.Result{}, r.Update(ctx, &w)
	}
	if w.Status.Config != "" {
		return ctrl.Result{}, nil
	}
	id, err := r.ask(ctx, http.MethodPost, "", map[string]any{"reference": ref})
	if err != nil {
		return ctrl.Result{}, err
	}
	if change {
		if err := r.Update(ctx, &w); err != nil {
			return ctrl.Result{}, err
		}
	}
	w.Status.Config, w.Status.ObservedGeneration = "account "+id, w.Generation
	return ctrl.Result{}, r.Status().Update(ctx, &w)
}

// ask sends a request to the provider, and returns the id in the answer.
func (r *accounts) ask(ctx context.Context, method, query string, body map[string]any) (id string, err error) {
	sent, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://accounts.example/v1/accounts"+query,
		strings.NewReader(string(sent)))
	if err != nil {
		return "", err
	}
	resp, err := r.provider.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 && resp.StatusCode != http.StatusNotFound {
		return "", errors.New(resp.Status)
	}
	if method == http.MethodDelete {
		return "", nil
	}
	var item struct{ ID string }
	return item.ID, json.NewDecoder(resp.Body).Decode(&item)
}

// An operator may know its account by the UID of its object, or by a random value that it records
// before. One that records it later may make two.
func TestReferences(t *testing.T) {
	for reference, found := range map[string]bool{
		"the UID": false, "recorded before it is used": false, "used before it is recorded": true,
	} {
		t.Run(reference, func(t *testing.T) {
			f := sim.Explore(t, func(w *sim.World) {
				w.Install("testdata/widgets.yaml")
				w.External("accounts.example", auto.REST())
				w.Start("accounts", func(mgr ctrl.Manager) error {
					r := &accounts{mgr.GetClient(), mgr.GetAPIReader(), sim.HTTPClient(mgr), reference}
					return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(r)
				}, sim.Options(ctrl.Options{Scheme: scheme}))
				auto.Scenario(w, auto.Without(auto.UpToDate)) // it looks at a new widget only
			}, sim.Runs(60), sim.For(0)).Failure
			switch {
			case !found && f != nil:
				t.Error(f.Text())
			case found && (f == nil || f.Property != auto.SameEffects && f.Property != auto.SameEndState):
				t.Errorf("it is not found: %+v", f)
			case found:
				t.Log(f.Text())
			}
		})
	}
}

// The ids of auto.REST are arbitrary, so the undisturbed run that shows which values are random has
// others, also behind a handler of the scenario's own.
func TestNumbersOfRESTAreRedrawn(t *testing.T) {
	keys := map[string]bool{}
	r := sim.Explore(t, func(w *sim.World) {
		w.Install("testdata/widgets.yaml")
		service := auto.REST()
		w.External("accounts.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			service.ServeHTTP(rw, r)
		}))
		w.Start("accounts", func(mgr ctrl.Manager) error {
			r := &accounts{mgr.GetClient(), mgr.GetAPIReader(), sim.HTTPClient(mgr), "the UID"}
			return ctrl.NewControllerManagedBy(mgr).For(&Widget{}).Complete(r)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		calm := w.Undisturbed()
		w.Eventually("ids are known", func(h *history.History) error {
			if calm.Redrawn == nil {
				return nil // this is the undisturbed run
			}
			for _, run := range []*history.History{h, calm.Redrawn()} {
				for _, e := range run.Effects("makes") {
					keys[e.Key] = true
				}
			}
			return nil
		})
		w.Apply(&Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: WidgetSpec{Size: 1}})
		w.Settle()
	}, sim.Runs(1), sim.For(0))
	if r.Failure != nil {
		t.Fatal(r.Failure.Text())
	}
	if !keys["/v1/accounts/000001"] || !keys["/v1/accounts/500001"] {
		t.Errorf("the ids are %v", keys)
	}
}
