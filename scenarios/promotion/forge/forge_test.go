// This file exists to hold the model to its rules, through its HTTP side, without a simulator.

package forge_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/promotion/forge"
	"github.com/wavetank/wavetank/sim/property"
)

// desk is a forge with a ledger.
type desk struct {
	*forge.Forge
	t      *testing.T
	ledger history.History
}

func newDesk(t *testing.T) *desk { return &desk{Forge: forge.New(), t: t} }

// call sends one request and decodes the reply into the given value.
func (d *desk) call(method, path, body string, into any) int {
	d.t.Helper()
	req := httptest.NewRequest(method, "https://git.example"+path, strings.NewReader(body))
	req = req.WithContext(history.WithLedger(req.Context(), d.ledger.Record))
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, req)
	if into != nil {
		if err := json.Unmarshal(rec.Body.Bytes(), into); err != nil {
			d.t.Fatalf("%s %s: the reply %q is not what it should be: %v", method, path, rec.Body, err)
		}
	}
	return rec.Code
}

// order posts an order and returns the status code and the pull request.
func (d *desk) order(o forge.Order) (int, forge.PullRequest) {
	d.t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		d.t.Fatal(err)
	}
	var pr forge.PullRequest
	code := d.call("POST", "/repos/acme/shop/pulls", string(body), &pr)
	return code, pr
}

// entries are the kinds and keys of the ledger.
func (d *desk) entries() []string {
	var out []string
	for _, e := range d.ledger.Effects("") {
		out = append(out, e.Kind+" "+e.Key)
	}
	return out
}

func staging(revision string) forge.Order {
	return forge.Order{
		Branch:   "promote-shop-web-staging",
		Pipeline: "shop/web", PipelineUID: "u1", Environment: "staging", Revision: revision,
	}
}

func keyed(o forge.Order, key string, episode int64) forge.Order {
	o.IdempotencyKey, o.Episode = key, episode
	return o
}

func TestOrderOpensPullRequest(t *testing.T) {
	d := newDesk(t)
	code, pr := d.order(staging("v1"))
	want := forge.PullRequest{
		Repository: "acme/shop", Number: 1, URL: "https://git.example/acme/shop/pull/1", State: forge.Open,
		Order: staging("v1"),
	}
	if diff := cmp.Diff(want, pr); code != http.StatusCreated || diff != "" {
		t.Errorf("POST answered %d; pull request (-want +got):\n%s", code, diff)
	}
	if diff := cmp.Diff([]string{"attempt u1/staging/v1", "effect u1/staging/v1"}, d.entries()); diff != "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
}

func once(ledger *history.History) error          { return property.AtMostOnce(forge.Effect)(ledger) }
func attemptedOnce(ledger *history.History) error { return property.AtMostOnce(forge.Attempt)(ledger) }

func TestOpenPullRequestOfBranchIsTakenOver(t *testing.T) {
	d := newDesk(t)
	d.order(staging("v1"))
	code, pr := d.order(staging("v2"))
	if code != http.StatusOK || pr.Number != 1 || pr.Order.Revision != "v2" {
		t.Errorf("the second order answered %d with %+v, want pull request 1 retitled", code, pr)
	}
	if err := once(&d.ledger); err != nil {
		t.Errorf("two revisions are two promotions, but %v", err)
	}
	if o, ok := d.Ordered("u1/staging/v2"); !ok || o != staging("v2") {
		t.Errorf("the ledger key of the second order leads to %+v, %v", o, ok)
	}
	if _, ok := d.Ordered("u1/staging/v3"); ok {
		t.Error("a key without an order is known")
	}
}

func TestMergedPullRequestIsNotTakenOver(t *testing.T) {
	d := newDesk(t)
	d.order(staging("v1"))
	if err := d.Merge(1); err != nil {
		t.Fatal(err)
	}
	if code, pr := d.order(staging("v2")); code != http.StatusCreated || pr.Number != 2 {
		t.Errorf("an order after the merge answered %d with %+v, want a new pull request", code, pr)
	}
	if err := d.Merge(1); err == nil {
		t.Error("a merged pull request could be merged again")
	}
	if err := d.Merge(3); err == nil {
		t.Error("a pull request that does not exist could be merged")
	}
	got := d.PullRequests()
	if len(got) != 2 || got[0].State != forge.Merged || got[1].State != forge.Open {
		t.Errorf("pull requests %+v, want one merged and one open", got)
	}
}

func TestRepeatedOrderWithoutKeyTakesEffectTwice(t *testing.T) {
	d := newDesk(t)
	d.order(staging("v1"))
	d.order(staging("v1"))
	if once(&d.ledger) == nil || attemptedOnce(&d.ledger) == nil {
		t.Error("a repetition is not noticed")
	}
}

func TestRepeatedOrderWithKeyTakesEffectOnce(t *testing.T) {
	d := newDesk(t)
	d.order(keyed(staging("v1"), "k1", 1))
	d.Merge(1)
	code, pr := d.order(keyed(staging("v1"), "k1", 1))
	if code != http.StatusOK || pr.Number != 1 {
		t.Errorf("the repeated order answered %d with %+v, want the first pull request untouched", code, pr)
	}
	if err := once(&d.ledger); err != nil {
		t.Errorf("one effect, but %v", err)
	}
	if err := attemptedOnce(&d.ledger); err == nil {
		t.Error("two orders were accepted, but the property holds")
	}
}

func TestEpisodesAreDifferentPromotions(t *testing.T) {
	d := newDesk(t)
	d.order(keyed(staging("v1"), "k1", 1))
	d.order(keyed(staging("v2"), "k2", 2))
	d.order(keyed(staging("v1"), "k3", 3))
	if err := attemptedOnce(&d.ledger); err != nil {
		t.Errorf("three episodes, but %v", err)
	}
	var found []forge.PullRequest
	if d.call("GET", "/repos/acme/shop/pulls?key=k1", "", &found); len(found) != 1 || len(found[0].Keys) != 3 {
		t.Errorf("by the first key: %+v, want the pull request that carries all three", found)
	}
	d.order(keyed(staging("v1"), "k3", 3))
	if attemptedOnce(&d.ledger) == nil {
		t.Error("an order of an episode is repeated, and that is not noticed")
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", "/repos/acme/shop/pulls", "{", http.StatusUnprocessableEntity},
		{"POST", "/repos/acme/shop/pulls", `{"branch":"b"}`, http.StatusUnprocessableEntity},
		{"PATCH", "/repos/acme/shop/pulls/7", `{"state":"closed"}`, http.StatusNotFound},
		{"PUT", "/repos/acme/shop/pulls/1/merge", "", http.StatusNotFound},
	} {
		d := newDesk(t)
		if code := d.call(c.method, c.path, c.body, nil); code != c.code || len(d.entries()) != 0 {
			t.Errorf("%s %s %s answered %d, not %d, and left %v", c.method, c.path, c.body, code, c.code, d.entries())
		}
	}
	var elsewhere []forge.PullRequest
	d := newDesk(t)
	d.order(keyed(staging("v1"), "k1", 1))
	if d.call("GET", "/repos/acme/blog/pulls?key=k1", "", &elsewhere); len(elsewhere) != 0 {
		t.Errorf("another repository shows %+v", elsewhere)
	}
}

func TestWhoOrderedMayClose(t *testing.T) {
	d := newDesk(t)
	d.order(keyed(staging("v1"), "k1", 1))
	d.order(keyed(forge.Order{Branch: "other", PipelineUID: "u1", Environment: "prod", Revision: "v1"},
		"k2", 1))
	if err := d.Merge(2); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]forge.State{"/repos/acme/shop/pulls/1": forge.Abandoned,
		"/repos/acme/shop/pulls/2": forge.Merged} {
		for range 2 { // to repeat it changes nothing
			var pr forge.PullRequest
			if code := d.call("PATCH", path, `{"state":"closed"}`, &pr); code != http.StatusOK || pr.State != want {
				t.Errorf("PATCH %s answered %d with %+v, want it %s", path, code, pr, want)
			}
		}
	}
	if code := d.call("PATCH", "/repos/acme/blog/pulls/1", `{"state":"closed"}`, nil); code != http.StatusNotFound {
		t.Errorf("another repository's pull request: %d", code)
	}
	if code, pr := d.order(keyed(staging("v1"), "k1", 1)); code != http.StatusOK || pr.State != forge.Abandoned {
		t.Errorf("the repeated order answered %d with %+v, want the closed pull request untouched", code, pr)
	}
	if len(d.entries()) != 5 {
		t.Errorf("closing left traces in the ledger: %v", d.entries())
	}
}
