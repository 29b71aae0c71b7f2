package apiserver_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// owners are the managers of the object in a reply, each with the time of its entry.
func owners(t *testing.T, r *apiserver.Response) map[string]time.Time {
	t.Helper()
	var o struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(r.Body, &o); err != nil {
		t.Fatal(err)
	}
	out := map[string]time.Time{}
	for _, e := range o.Metadata.ManagedFields {
		out[e.Manager] = e.Time.UTC()
	}
	return out
}

// The rows about ownership take no time, and a row that waited would make everybody wait.
func TestTimesOfOwnership(t *testing.T) {
	start := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return now }, Seed: 1, TrackFields: true})
	const maps = "/api/v1/namespaces/default/configmaps"
	patch := func(manager, body string) map[string]time.Time {
		now = now.Add(time.Minute)
		return owners(t, must(t, s, "PATCH", maps+"/a?fieldManager="+manager, "application/merge-patch+json", body))
	}
	must(t, s, "POST", maps+"?fieldManager=maker", jsonType, `{"metadata":{"name":"a"},"data":{"k":"v"}}`)

	got := patch("other", `{"data":{"l":"v"},"metadata":{"managedFields":[{"manager":"x","operation":"Nope"}]}}`)
	if !got["maker"].Equal(start) || !got["other"].Equal(now) {
		t.Errorf("what the client says is not valid, so that everybody but the writer keeps their time: %v", got)
	}
	for i := range 9 {
		got = patch(fmt.Sprintf("m%d", i), fmt.Sprintf(`{"data":{"k%d":"v"}}`, i))
	}
	if len(got) != 10 || !got["ancient-changes"].Equal(start.Add(time.Minute)) {
		t.Errorf("the oldest two are merged at the time of the later one: %v", got)
	}
	if got = patch("n", `{"data":{"n":"v"}}`); len(got) != 10 ||
		!got["ancient-changes"].Equal(start.Add(2*time.Minute)) {
		t.Errorf("and then those and the next one: %v", got)
	}
}
