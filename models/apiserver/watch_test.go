package apiserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWatchBookmarksTimeoutsAndExpiry(t *testing.T) {
	s := newServer(t, widgets())
	from := s.Revision()
	w := must(t, s, "GET", fmt.Sprintf("%s?watch=true&resourceVersion=%d&timeoutSeconds=30&allowWatchBookmarks=true",
		widgetDir, from), "", "").Watch
	if w.Timeout() != 30*time.Second {
		t.Fatalf("timeout %v", w.Timeout())
	}
	must(t, s, "POST", configDir, jsonType, configBody("other", 1))
	if f, ok := w.Bookmark(); !ok || f.Revision != s.Revision() {
		t.Fatalf("an idle watch's bookmark is at the present: %v %v", f, ok)
	}
	must(t, s, "POST", widgetDir, jsonType, widgetBody("a", 1))
	created := s.Revision()
	must(t, s, "POST", configDir, jsonType, configBody("another", 1))
	if f, ok := w.Bookmark(); !ok || f.Revision != created-1 {
		t.Fatalf("a bookmark never passes an undelivered change: %v", f)
	}
	if w.Behind() != 1 {
		t.Fatalf("behind %d", w.Behind())
	}
	lagging := must(t, s, "GET", fmt.Sprintf("%s?watch=true&resourceVersion=%d", widgetDir, from), "", "").Watch
	if _, ok := lagging.Bookmark(); ok {
		t.Fatal("a bookmark for a client that did not ask")
	}
	if f, ok := w.Next(); !ok || f.Type != "ADDED" || f.Name != "a" || f.Namespace != "default" {
		t.Fatalf("%v", f)
	}
	s.Compact(s.Revision())
	if f, ok := lagging.Next(); !ok || f.Type != "ERROR" || !strings.Contains(string(f.Data), `"code":410`) {
		t.Fatalf("%s", f.Data)
	}
	if _, ok := lagging.Next(); ok {
		t.Fatal("an expired watch continues")
	}
	if f, ok := w.Next(); ok {
		t.Fatalf("a watch that has seen everything does not expire: %s", f.Data)
	}
	w.Close()
	must(t, s, "DELETE", widgetDir+"/a", "", "")
	if _, ok := w.Next(); ok {
		t.Fatal("a closed watch continues")
	}
}

func TestFramesAreShared(t *testing.T) {
	s := filled(t, 1, 10)
	path := fmt.Sprintf("%s?watch=true&resourceVersion=%d", widgetDir, s.Revision())
	a, b := must(t, s, "GET", path, "", "").Watch, must(t, s, "GET", path, "", "").Watch
	must(t, s, "PATCH", widgetDir+"/w000000", mergeType, `{"spec":{"size":1}}`)
	fa, _ := a.Next()
	fb, _ := b.Next()
	if &fa.Data[0] != &fb.Data[0] {
		t.Fatal("two watchers, two encodings")
	}
}

func TestReadingWithoutARequest(t *testing.T) {
	s := filled(t, 3, 10)
	if raw, ok := s.Lookup("test.wavetank.dev", "Widget", "default", "w000001"); !ok ||
		!strings.HasPrefix(string(raw), `{"kind":"Widget"`) {
		t.Fatalf("%s", raw)
	}
	var names []string
	for o := range s.Objects("", "ConfigMap") {
		names = append(names, o.Name)
	}
	if got := strings.Join(names, " "); got != "c000000 c000001 c000002" {
		t.Fatal(got)
	}
	if s.KindOf("apps", "deployments") != "Deployment" || s.KindOf("apps", "nothings") != "" {
		t.Fatal("kinds")
	}
	m := s.Mapper()
	if mapping, err := m.RESTMapping(schema.GroupKind{Group: "later.dev", Kind: "Later"}); err == nil {
		t.Fatalf("%v", mapping)
	}
	if err := s.Install(definition("later.dev", "Later", "laters")); err != nil {
		t.Fatal(err)
	}
	mapping, err := m.RESTMapping(schema.GroupKind{Group: "later.dev", Kind: "Later"}, "v1")
	if err != nil || mapping.Resource.Resource != "laters" {
		t.Fatalf("%v %v", mapping, err)
	}
}

// The token in a 410 continues where the page would have begun.
func TestATokenOutlivesCompaction(t *testing.T) {
	s := newServer(t, widgets())
	for _, name := range []string{"a", "b", "c"} {
		must(t, s, "POST", configDir, jsonType, configBody(name, 1))
	}
	token := func(body []byte) string {
		var list struct {
			Metadata struct{ Continue string }
		}
		if err := json.Unmarshal(body, &list); err != nil || list.Metadata.Continue == "" {
			t.Fatalf("no token: %s", body)
		}
		return list.Metadata.Continue
	}
	first := must(t, s, "GET", configDir+"?limit=1", "", "")
	must(t, s, "POST", configDir, jsonType, configBody("d", 1))
	s.Compact(s.Revision())
	gone := do(t, s, "GET", configDir+"?limit=5&continue="+token(first.Body), "", "")
	if gone.Code != http.StatusGone {
		t.Fatalf("%d %s", gone.Code, gone.Body)
	}
	rest := string(must(t, s, "GET", configDir+"?limit=5&continue="+token(gone.Body), "", "").Body)
	for name, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true} {
		if strings.Contains(rest, `"name":"`+name+`"`) != want {
			t.Errorf("%s on the rest of the pages: want %v: %s", name, want, rest)
		}
	}
}
