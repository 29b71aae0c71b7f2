// This file is about when the fixed variant writes the status: if that would change something, and
// only then.

package throttle

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestTheStatusIsWrittenIfAnyPartOfItIsAnother(t *testing.T) {
	for name, c := range map[string]struct {
		status, results string
		writes          int
	}{
		"it says so already":      {`{"handlers":{"a":"x","b":3}}`, `{"a":"x","b":3}`, 0},
		"nothing to say":          {`{"handlers":{}}`, `{}`, 0},
		"nothing came of it":      {`{"handlers":{}}`, `{"a":null}`, 0},
		"more than is ours":       {`{"child":"c","handlers":{"a":{"x":1,"y":[1,2]}}}`, `{"a":{"x":1}}`, 0},
		"a number too large":      {`{"handlers":{"a":90071992547409920}}`, `{"a":90071992547409920}`, 0},
		"another result":          {`{"handlers":{"a":"x"}}`, `{"a":"y"}`, 1},
		"another handler":         {`{"handlers":{"a":"x"}}`, `{"a":"x","b":"y"}`, 1},
		"a list that has grown":   {`{"handlers":{"a":[1]}}`, `{"a":[1,2]}`, 1},
		"no result any more":      {`{"handlers":{"a":"x"}}`, `{"a":null}`, 1},
		"deep in a result":        {`{"handlers":{"a":{"x":{"y":1}}}}`, `{"a":{"x":{"y":2}}}`, 1},
		"a map where a text was":  {`{"handlers":{"a":"x"}}`, `{"a":{}}`, 1},
		"somebody has removed it": {`{}`, `{"a":"x"}`, 1},
	} {
		writes := 0
		var handlers []Handler
		results, annotations := map[string]any{}, map[string]string{}
		if err := json.Unmarshal([]byte(c.results), &results); err != nil {
			t.Fatal(err)
		}
		for id, result := range results {
			record, err := json.Marshal(&Record{Change: 1, Success: true, Result: result})
			if err != nil {
				t.Fatal(err)
			}
			annotations[plainKey(id)] = string(record)
			handlers = append(handlers, Handler{ID: id})
		}
		k := newKeeper(t, func(*http.Request) (int, string) {
			writes++
			return http.StatusOK, encoded(t, thing("one"))
		}, handlers...)
		body := &unstructured.Unstructured{}
		if err := body.UnmarshalJSON([]byte(`{"apiVersion":"kopf.dev/v1","kind":"KopfExample",` +
			`"metadata":{"name":"thing","generation":1},"status":` + c.status + `}`)); err != nil {
			t.Fatal(err)
		}
		body.Object["status"].(map[string]any)["conditions"] = []any{map[string]any{
			"type": HandledCondition, "status": string(metav1.ConditionTrue), "reason": "Handled",
			"message": "every handler has been called", "observedGeneration": int64(1),
			"lastTransitionTime": "2020-09-04T00:00:00Z",
		}}
		body.SetAnnotations(annotations)
		body.SetFinalizers([]string{Finalizer})
		if _, err := k.process(t.Context(), newObject(), body); err != nil || writes != c.writes {
			t.Errorf("%s: it was written %d times, want %d: %v", name, writes, c.writes, err)
		}
		// What stands is what a merge patch would leave as it is.
		before := []byte(c.status)
		after, err := jsonpatch.MergePatch(before, []byte(`{"handlers":`+c.results+`}`))
		if err != nil || jsonpatch.Equal(before, after) != (c.writes == 0) {
			t.Errorf("%s: %s becomes %s: %v", name, before, after, err)
		}
	}
}

// A conflict is with something newer: it is reported on that, and not at all if that is another
// object.
func TestAConflictIsReportedOnWhatIsNewest(t *testing.T) {
	conflict := apierrors.NewConflict(Examples.GroupResource(), "thing", errors.New("it has been modified"))
	for name, c := range map[string]struct {
		newest types.UID
		says   string // the reason of the condition that it has
		writes int
	}{
		"nothing is said yet":           {"one", "", 1},
		"it is said that it has failed": {"one", noAnswer, 1},
		"it is said already":            {"one", "Conflict", 0},
		"it is said what is refused":    {"one", "Invalid", 0},
		"the object is another by now":  {"two", "", 0},
	} {
		writes := 0
		k := newKeeper(t, func(r *http.Request) (int, string) {
			newest := thing(c.newest)
			if r.Method == http.MethodGet && c.says != "" {
				message := map[string]string{"Conflict": conflict.Error()}[c.says]
				newest.Object["status"] = map[string]any{"conditions": []any{map[string]any{
					"type": HandledCondition, "status": "False", "reason": c.says, "message": message,
					"observedGeneration": int64(1), "lastTransitionTime": "2020-09-04T00:00:00Z",
				}}}
			}
			if r.Method != http.MethodGet {
				writes++
			}
			return http.StatusOK, encoded(t, newest)
		})
		if k.report(t.Context(), thing("one"), conflict); writes != c.writes {
			t.Errorf("%s: it was written %d times, want %d", name, writes, c.writes)
		}
	}
}

// The next incarnation continues the schedule, by what the object reports.
func TestFailuresThatAnEarlierIncarnationHad(t *testing.T) {
	for name, c := range map[string]struct {
		ago        time.Duration
		status     string
		generation int64
		want       int
	}{
		"just now":                 {0, "False", 1, 0},
		"after the first delay":    {time.Second, "False", 1, 1},
		"20 s, six delays":         {20 * time.Second, "False", 1, 6},
		"for so long that all are": {time.Hour, "False", 1, len(delays)},
		"it is handled":            {time.Hour, "True", 1, 0},
		"it was another spec":      {time.Hour, "False", 2, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			body := thing("one")
			body.SetGeneration(c.generation)
			body.Object["status"] = map[string]any{"conditions": []any{map[string]any{
				"type": HandledCondition, "status": c.status, "observedGeneration": int64(1),
				"lastTransitionTime": time.Now().Add(-c.ago).UTC().Format(time.RFC3339),
			}}}
			if got := failuresSaid(body); got != c.want {
				t.Errorf("%s: %d failures, want %d", name, got, c.want)
			}
		})
	}
	if n := failuresSaid(thing("one")); n != 0 {
		t.Errorf("an object that says nothing has had %d failures", n)
	}
}
