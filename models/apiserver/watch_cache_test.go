package apiserver_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/models/apiserver"
)

// lagging is a server with a ConfigMap that was made at one revision and changed at the next.
func lagging(t *testing.T) (s *apiserver.Server, made int64) {
	t.Helper()
	s = apiserver.New(apiserver.Options{Now: time.Now, Seed: 1})
	do := func(method, path, body string) {
		u, _ := url.Parse(path)
		if r := s.Handle(&apiserver.Request{Method: method, URL: u, Body: []byte(body),
			Groups: []string{"system:masters"},
			Header: http.Header{"Content-Type": {"application/json"}}}); r.Code >= 300 {
			t.Fatalf("%s %s: %s", method, path, r.Body)
		}
	}
	do("POST", "/api/v1/namespaces/default/configmaps",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"old"}}`)
	made = s.Revision()
	do("PUT", "/api/v1/namespaces/default/configmaps/a",
		`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"new"}}`)
	return s, made
}

// What a server whose cache lags answers to each sort of read.
func TestReadsAsOfARevision(t *testing.T) {
	const one, all = "/api/v1/namespaces/default/configmaps/a", "/api/v1/namespaces/default/configmaps"
	for _, c := range []struct {
		path   string
		cached bool
		needs  int64 // relative to the revision at which the object was made; -1 for any
		sees   string
	}{
		{one, false, -1, "new"},
		{one + "?resourceVersion=0", true, -1, "old"},
		{all, true, 1, "new"},
		{all + "?resourceVersion=0", true, -1, "old"},
		{all + "?resourceVersion=0&limit=500", true, -1, "old"},
		{all + "?watch=true", true, -1, "old"},
		{all + "?watch=true&resourceVersion=0", true, -1, "old"},
		{all + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=0", true, -1,
			"old"},
		{all + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan", true, 1, ""},
	} {
		s, made := lagging(t)
		u, _ := url.Parse(c.path)
		req := &apiserver.Request{Method: "GET", URL: u, Groups: []string{"system:masters"}, AsOf: made}
		needs, cached := s.FromCache(req)
		want := made + c.needs
		if c.needs < 0 {
			want = 0
		}
		if cached != c.cached || needs != want {
			t.Errorf("%s: from the cache %v, which must have reached %d; want %v, %d", c.path, cached, needs, c.cached,
				want)
		}
		if c.sees == "" {
			continue // such a cache may not answer at all
		}
		resp := s.Handle(req)
		body := resp.Body
		if resp.Watch != nil {
			f, _ := resp.Watch.Next()
			body = f.Data
		}
		if !strings.Contains(string(body), `"k":"`+c.sees+`"`) {
			t.Errorf("%s sees %s, want %s", c.path, body, c.sees)
		}
		if resp.Watch != nil {
			for f, ok := resp.Watch.Next(); ok; f, ok = resp.Watch.Next() {
				body = f.Data
			}
			if !strings.Contains(string(body), `"k":"new"`) {
				t.Errorf("%s does not continue to the present: %s", c.path, body)
			}
		}
	}
}

// A server that has not reached the revision in time says so: to a watch in its first event, to
// others at once.
func TestTooLargeRevision(t *testing.T) {
	s, made := lagging(t)
	for _, path := range []string{"/api/v1/configmaps?resourceVersion=9",
		"/api/v1/configmaps?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"} {
		u, _ := url.Parse(path)
		resp := s.TooLargeRevision(&apiserver.Request{Method: "GET", URL: u}, made+1, made)
		body := resp.Body
		if resp.Watch != nil {
			f, ok := resp.Watch.Next()
			if _, more := resp.Watch.Next(); !ok || f.Type != "ERROR" || more {
				t.Errorf("%s: %+v", path, f)
			}
			var frame struct{ Object json.RawMessage }
			if err := json.Unmarshal(f.Data, &frame); err != nil {
				t.Fatal(err)
			}
			body = frame.Object
		}
		if !strings.Contains(string(body), `"code":504`) ||
			!strings.Contains(string(body), "Too large resource version: ") {
			t.Errorf("%s: %s", path, body)
		}
	}
}

// What is trimmed is missed by those alone who would have been told of it.
func TestTrim(t *testing.T) {
	now := time.Now()
	s := apiserver.New(apiserver.Options{Now: func() time.Time { return now }, Seed: 1})
	do := func(method, path, body string) *apiserver.Response {
		u, _ := url.Parse(path)
		return s.Handle(&apiserver.Request{Method: method, URL: u, Body: []byte(body),
			Groups: []string{"system:masters"},
			Header: http.Header{"Content-Type": {"application/json"}}})
	}
	make := func(namespace, name string) {
		r := do("POST", "/api/v1/namespaces/"+namespace+"/configmaps",
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"`+name+`"}}`)
		if r.Code != http.StatusCreated {
			t.Fatalf("%s", r.Body)
		}
	}
	watch := func(path string, from int64) *apiserver.Watch {
		return do("GET", path+"?watch=true&resourceVersion="+strconv.FormatInt(from, 10), "").Watch
	}
	const here, there, everywhere = "/api/v1/namespaces/default/configmaps",
		"/api/v1/namespaces/kube-system/configmaps", "/api/v1/configmaps"
	make("default", "a")
	from := s.Revision()
	open := watch(here, from) // it has not looked at what follows
	make("kube-system", "b")
	now = now.Add(time.Hour)
	make("default", "c")
	s.Trim(time.Minute)
	for what, w := range map[string]*apiserver.Watch{"one that begins": watch(here, from), "one that is open": open} {
		if f, ok := w.Next(); !ok || f.Type != "ADDED" || f.Name != "c" {
			t.Errorf("%s in a namespace of which nothing is missing: %s", what, f.Data)
		}
	}
	for _, path := range []string{there, everywhere} {
		if f, ok := watch(path, from).Next(); !ok || f.Type != "ERROR" ||
			!strings.Contains(string(f.Data), `"code":410`) {
			t.Errorf("a watch of %s misses a change, and hears %s", path, f.Data)
		}
	}
	if r := do("GET", here+"?resourceVersionMatch=Exact&resourceVersion="+strconv.FormatInt(from, 10),
		""); r.Code != http.StatusGone {
		t.Errorf("a list at a revision that is gone: %d", r.Code)
	}
}

// Trimming in between does not change who owns which field in the end.
func TestTrimKeepsOwners(t *testing.T) {
	end := func(trim bool) string {
		now := time.Unix(1e9, 0)
		s := apiserver.New(apiserver.Options{Now: func() time.Time { return now }, Seed: 1})
		do := func(method, manager, mediaType, body string) *apiserver.Response {
			path := "/api/v1/namespaces/default/configmaps"
			if method != "POST" {
				path += "/a"
			}
			u, _ := url.Parse(path + "?fieldManager=" + manager)
			now = now.Add(time.Minute)
			r := s.Handle(&apiserver.Request{Method: method, URL: u, Body: []byte(body),
				Groups: []string{"system:masters"},
				Header: http.Header{"Content-Type": {mediaType}}})
			if r.Code >= 300 {
				t.Fatalf("%s: %s", method, r.Body)
			}
			if trim {
				s.Trim(90 * time.Second)
			}
			return r
		}
		do("POST", "one", "application/json", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",`+
			`"finalizers":["test.example/hold"]},"data":{"x":"1","y":"1"}}`)
		for i := range 5 {
			do("PATCH", "two", "application/merge-patch+json", `{"data":{"y":"`+strconv.Itoa(i+2)+`"}}`)
			do("PATCH", "three", "application/merge-patch+json", `{"data":{"z":"`+strconv.Itoa(i)+`"}}`)
		}
		do("PUT", "four", "application/json", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a",`+
			`"finalizers":["test.example/hold"]},"data":{"x":"2","y":"6"}}`)
		do("DELETE", "", "application/json", "")
		do("DELETE", "", "application/json", "")
		return string(do("PATCH", "five", "application/apply-patch+yaml",
			`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"v":"1"}}`).Body)
	}
	if whole, trimmed := end(false), end(true); whole != trimmed || !strings.Contains(whole, `"manager":"four"`) {
		t.Errorf("without trimming: %s\nwith: %s", whole, trimmed)
	}
}

// A watch-list from a version that is not there yet begins, and fails in its first event, which is
// where clients look (staging/src/k8s.io/apiserver/pkg/storage/cacher/cacher.go, Watch).
func TestWatchListOfTheFuture(t *testing.T) {
	s := newServer(t)
	path := configDir + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" +
		"&allowWatchBookmarks=true&resourceVersion="
	r := do(t, s, "GET", path+strconv.FormatInt(s.Revision()+1, 10), "", "")
	if r.Watch == nil {
		t.Fatalf("%d %s", r.Code, r.Body)
	}
	if f, ok := r.Watch.Next(); !ok || f.Type != "ERROR" || !strings.Contains(string(f.Data), `"reason":"Timeout"`) ||
		r.Code != 200 {
		t.Errorf("%d %s", r.Code, f.Data)
	}
	if f, ok := r.Watch.Next(); ok {
		t.Errorf("continues with %s", f.Data)
	}
}
