package auto_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/auto"
)

// The service keeps what is sent, as most do, and an item that is made or removed is an effect.
func TestREST(t *testing.T) {
	const a, b = "30b981e6", "d3649476" // of what is posted
	service := auto.REST()
	var effects []string
	ctx := history.WithLedger(t.Context(), func(e history.Effect) { effects = append(effects, e.Kind+" "+e.Key) })
	for _, step := range []struct{ method, path, key, body, want string }{
		{"GET", "/v1/records", "", ``, `404 {"error":"/v1/records is not there"}`},
		{"GET", "/v1/records?host=a", "", ``, `200 []`},
		{"POST", "/v1/records", "", `{"host":"a"}`, `201 {"host":"a","id":"` + a + `-1"}`},
		{"POST", "/v1/records/", "", `{"host":"a"}`, `201 {"host":"a","id":"` + a + `-2"}`},
		{"POST", "/v1/records", "k", `{"id":"own"}`, `201 {"id":"own"}`},
		{"POST", "/v1/records", "k", `{"id":"own"}`, `201 {"id":"own"}`},
		{"DELETE", "/v1/records/" + a + "-2", "", ``, `204 `},
		{"DELETE", "/v1/records/" + a + "-2", "", ``, `404 {"error":"/v1/records/` + a + `-2 is not there"}`},
		{"PATCH", "/v1/records/" + a + "-1", "", `{"port":7}`, `200 {"host":"a","id":"` + a + `-1","port":7}`},
		{"GET", "/v1/records", "", ``, `200 [{"host":"a","id":"` + a + `-1","port":7},{"id":"own"}]`},
		{"PUT", "/v1/buckets/b?region=eu", "", `no JSON`, `200 {}`},
		{"PUT", "/v1/buckets/b", "", `{"size":1}`, `200 {"size":1}`},
		{"GET", "/v1/buckets/b", "", ``, `200 {"size":1}`},
	} {
		if got := ask(ctx, service, step.method, step.path, step.key, step.body); got != step.want {
			t.Errorf("%s %s: %s, want %s", step.method, step.path, got, step.want)
		}
	}
	want := []string{"makes /v1/records/" + a + "-1", "makes /v1/records/" + a + "-2", "makes /v1/records/" + b + "-1",
		"removes /v1/records/" + a + "-2", "makes /v1/buckets/b"}
	if !slices.Equal(effects, want) {
		t.Errorf("effects %q, want %q", effects, want)
	}
}

func ask(ctx context.Context, service http.Handler, method, path, key, body string) string {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Idempotency-Key", key)
	rw := httptest.NewRecorder()
	service.ServeHTTP(rw, r)
	answer, _ := io.ReadAll(rw.Result().Body)
	return rw.Result().Status[:3] + " " + strings.TrimSpace(string(answer))
}
