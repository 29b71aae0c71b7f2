package auto_test

import (
	"context"
	"encoding/json"
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
	service := auto.REST()
	var effects []string
	ctx := history.WithLedger(t.Context(), func(e history.Effect) { effects = append(effects, e.Kind+" "+e.Key) })
	for _, step := range []struct{ method, path, key, body, want string }{
		{"GET", "/v1/records", "", ``, `404 {"error":"/v1/records is not there"}`},
		{"GET", "/v1/records?host=a", "", ``, `200 []`},
		{"POST", "/v1/records", "", `{"host":"a"}`, `201 {"host":"a","id":"000001"}`},
		{"POST", "/v1/records/", "", `{"host":"a"}`, `201 {"host":"a","id":"000002"}`},
		{"POST", "/v1/records", "k", `{"id":"own"}`, `201 {"id":"own"}`},
		{"POST", "/v1/records", "k", `{"id":"own"}`, `200 {"id":"own"}`},
		{"DELETE", "/v1/records/000002", "", ``, `204 `},
		{"DELETE", "/v1/records/000002", "", ``, `404 {"error":"/v1/records/000002 is not there"}`},
		{"PATCH", "/v1/records/000001", "", `{"port":7}`, `200 {"host":"a","id":"000001","port":7}`},
		{"GET", "/v1/records", "", ``, `200 [{"host":"a","id":"000001","port":7},{"id":"own"}]`},
		{"GET", "/v1/records?host=a&page=1", "", ``, `200 [{"host":"a","id":"000001","port":7}]`},
		{"DELETE", "/v1/records?page=1", "", ``, `404 {"error":"/v1/records is not there"}`},
		{"PUT", "/v1/buckets/b?region=eu", "", `no JSON`, `200 {}`},
		{"PUT", "/v1/buckets/b", "", `{"size":1}`, `200 {"size":1}`},
		{"GET", "/v1/buckets/b", "", ``, `200 {"size":1}`},
	} {
		if got := ask(ctx, service, step.method, step.path, step.key, step.body); got != step.want {
			t.Errorf("%s %s: %s, want %s", step.method, step.path, got, step.want)
		}
	}
	want := []string{"makes /v1/records/000001", "makes /v1/records/000002", "makes /v1/records/000003",
		"removes /v1/records/000002", "makes /v1/buckets/b"}
	if !slices.Equal(effects, want) {
		t.Errorf("effects %q, want %q", effects, want)
	}
}

// What a client knows an item by makes one item, and finds it.
func TestRESTKnowsReferences(t *testing.T) {
	for _, field := range []string{"reference", "request_id", "requestId", "idempotencyKey", "externalId", "uid"} {
		service := auto.REST()
		item := func(of map[string]any, ref string) string {
			of[field] = ref
			text, _ := json.Marshal(of)
			return string(text)
		}
		type m = map[string]any
		first, at := item(m{"id": "000001", "size": 1}, "u-1"), "/v1/accounts?"+field+"=u-1"
		for _, step := range []struct{ method, path, body, want string }{
			{"POST", "/v1/accounts", item(m{"size": 1}, "u-1"), "201 " + first},
			{"POST", "/v1/accounts", item(m{"size": 2}, "u-1"), "200 " + first},
			{"POST", "/v1/users", item(m{}, "u-1"), "201 " + item(m{"id": "000001"}, "u-1")},
			{"POST", "/v1/accounts", item(m{}, "u-2"), "201 " + item(m{"id": "000002"}, "u-2")},
			{"GET", at, "", "200 [" + first + "]"},
			{"DELETE", at, "", "204 "},
			{"DELETE", at, "", `404 {"error":"/v1/accounts is not there"}`},
			{"GET", at, "", "200 []"},
			{"POST", "/v1/accounts", item(m{}, "u-1"), "201 " + item(m{"id": "000003"}, "u-1")},
			{"POST", "/v1/plans", `{"size":1}`, `201 {"id":"000001","size":1}`},
			{"GET", "/v1/plans?" + field + "=u-1", "", "200 []"},
		} {
			if got := ask(t.Context(), service, step.method, step.path, "", step.body); got != step.want {
				t.Errorf("%s %s %s: %s, want %s", step.method, step.path, step.body, got, step.want)
			}
		}
	}
	service := auto.REST()
	for _, want := range []string{"201", "409"} { // the same name and nothing else to know it by
		got := ask(t.Context(), service, "POST", "/v1/zones", "", `{"name":"a"}`)
		if got != want+` {"id":"000001","name":"a"}` {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := ask(t.Context(), service, "POST", "/v1/zones", "", `{"name":"a","type":"TXT"}`); got[:3] != "201" {
		t.Error(got)
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
