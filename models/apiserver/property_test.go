package apiserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/models/apiserver"
)

// script is a random sequence of requests by a few careless clients.
type script struct {
	t *rapid.T
	s *apiserver.Server
	// states holds, after each revision, the widgets of the default namespace: name to encoded
	// object.
	states map[int64]map[string]string
	past   []int64
}

func newScript(t *rapid.T) *script {
	s := apiserver.New(apiserver.Options{Now: newClock().Now, Seed: 3})
	if err := s.Install(propertyDefinition); err != nil {
		t.Fatal(err)
	}
	return &script{t: t, s: s, states: map[int64]map[string]string{s.Revision(): {}}, past: []int64{s.Revision()}}
}

var propertyDefinition = widgets()

func (s *script) send(method, path, contentType, body string) *apiserver.Response {
	before := s.s.Revision()
	r := do(nopTB{}, s.s, method, path, contentType, body)
	// Revisions rise by one with each change, and the response carries the changes.
	if got := s.s.Revision() - before; got != int64(len(r.Changes)) {
		s.t.Fatalf("%s %s: %d revisions for %d changes", method, path, got, len(r.Changes))
	}
	state := maps.Clone(s.states[before])
	for i, change := range r.Changes {
		if change.Revision != before+int64(i)+1 {
			s.t.Fatalf("change %d has revision %d after %d", i, change.Revision, before)
		}
		if change.Kind == "Widget" && change.Namespace == "default" {
			if change.Type == "DELETED" {
				delete(state, change.Name)
			} else {
				state[change.Name] = string(change.Object)
			}
		}
		s.states[change.Revision] = maps.Clone(state)
		s.past = append(s.past, change.Revision)
	}
	return r
}

type nopTB struct{ testing.TB }

func (nopTB) Helper() {}

func (s *script) step() {
	t := s.t
	name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
	path := widgetDir + "/" + name
	label := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "label")
	finalizers := rapid.SampledFrom([]string{`[]`, `["t.dev/a"]`}).Draw(t, "finalizers")
	size := rapid.IntRange(0, 3).Draw(t, "size")
	object := fmt.Sprintf(`{"kind":"Widget","apiVersion":"test.wavetank.dev/v1","metadata":{"name":%q,`+
		`"labels":{"l":%q},"finalizers":%s%%s},"spec":{"size":%d}}`,
		name, label, finalizers, size)
	switch rapid.SampledFrom([]string{"create", "update", "stale", "merge", "json", "status", "delete", "config",
		"collection", "dry"}).Draw(t, "verb") {
	case "create":
		s.send("POST", widgetDir, jsonType, fmt.Sprintf(object, ""))
	case "update":
		s.send("PUT", path, jsonType, fmt.Sprintf(object, `,"resourceVersion":"`+s.version(path)+`"`))
	case "stale":
		s.send("PUT", path, jsonType, fmt.Sprintf(object, `,"resourceVersion":"3"`))
	case "merge":
		s.send("PATCH", path, mergeType,
			fmt.Sprintf(`{"metadata":{"labels":{"l":%q},"finalizers":%s},"spec":{"size":%d}}`, label, finalizers, size))
	case "json":
		s.send("PATCH", path, "application/json-patch+json",
			fmt.Sprintf(`[{"op":"replace","path":"/spec/size","value":%d}]`, size))
	case "status":
		s.send("PATCH", path+"/status", mergeType, fmt.Sprintf(`{"status":{"phase":"p%d"}}`, size))
	case "delete":
		policy := rapid.SampledFrom([]string{"", "?propagationPolicy=Foreground", "?propagationPolicy=Orphan"}).Draw(t,
			"policy")
		s.send("DELETE", path+policy, "", "")
	case "config":
		s.send("POST", configDir, jsonType, fmt.Sprintf(`{"metadata":{"generateName":"c-"},"data":{"n":"%d"}}`, size))
	case "collection":
		s.send("DELETE", widgetDir+"?labelSelector=l%3D"+label, "", "")
	case "dry":
		if r := s.send("POST", widgetDir+"?dryRun=All", jsonType, fmt.Sprintf(object, "")); len(r.Changes) > 0 {
			t.Fatal("a dry run changed the store")
		}
	}
}

func (s *script) version(path string) string {
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal(s.send("GET", path, "", "").Body, &o); err != nil {
		return ""
	}
	return o.Metadata.ResourceVersion
}

// listed reads the names and encoded objects of a list response.
func (s *script) listed(query string) map[string]string {
	r := s.send("GET", widgetDir+query, "", "")
	if r.Code != 200 {
		s.t.Fatalf("list %s: %d %s", query, r.Code, r.Body)
	}
	var list struct{ Items []json.RawMessage }
	if err := json.Unmarshal(r.Body, &list); err != nil {
		s.t.Fatal(err)
	}
	out := map[string]string{}
	var names []string
	for _, item := range list.Items {
		name := nameOf(item)
		names = append(names, name)
		out[name] = string(item)
	}
	if !slices.IsSorted(names) {
		s.t.Fatalf("list order: %v", names)
	}
	return out
}

func nameOf(raw []byte) string {
	var o struct{ Metadata struct{ Name string } }
	if err := json.Unmarshal(raw, &o); err != nil {
		panic(err)
	}
	return o.Metadata.Name
}

// apply replays one frame onto a state, and complains about frames that make no sense there.
func (s *script) apply(state map[string]string, f apiserver.Frame) {
	var frame struct {
		Type   string
		Object json.RawMessage
	}
	if err := json.Unmarshal(f.Data, &frame); err != nil || frame.Type != f.Type ||
		!bytes.HasSuffix(f.Data, []byte("\n")) {
		s.t.Fatalf("frame %s: %v", f.Data, err)
	}
	_, known := state[f.Name]
	switch f.Type {
	case "ADDED", "MODIFIED":
		if known == (f.Type == "ADDED") {
			s.t.Fatalf("%s of %s when known is %v", f.Type, f.Name, known)
		}
		state[f.Name] = string(frame.Object)
	case "DELETED":
		if !known {
			s.t.Fatalf("DELETED of unknown %s", f.Name)
		}
		delete(state, f.Name)
	default:
		s.t.Fatalf("frame %s", f.Data)
	}
}

func (s *script) watch(from int64, query string) *apiserver.Watch {
	r := s.send("GET", fmt.Sprintf("%s?watch=true&allowWatchBookmarks=true&resourceVersion=%d%s", widgetDir, from,
		query), "", "")
	if r.Watch == nil {
		s.t.Fatalf("watch: %d %s", r.Code, r.Body)
	}
	return r.Watch
}

func selected(state map[string]string, label string) map[string]string {
	out := map[string]string{}
	for name, raw := range state {
		if label == "" || strings.Contains(raw, fmt.Sprintf(`"labels":{"l":%q}`, label)) {
			out[name] = raw
		}
	}
	return out
}

func equalStates(t *rapid.T, what string, got, want map[string]string) {
	if !maps.Equal(got, want) {
		t.Fatalf("%s:\n got %v\nwant %v", what, got, want)
	}
}

// TestStoreProperties: a list at any past version is the state that the changes up to it make; a
// list there and the watch from there make the present; and a watch that is dropped and resumed
// loses nothing.
func TestStoreProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newScript(t)
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			x.step()
		}
		now := x.states[x.s.Revision()]
		equalStates(t, "the present list", x.listed(""), now)
		from := rapid.SampledFrom(x.past).Draw(t, "from")
		exact := fmt.Sprintf("?resourceVersion=%d&resourceVersionMatch=Exact", from)
		equalStates(t, "the list at a version", x.listed(exact), x.states[from])

		label := rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "selector")
		query := ""
		if label != "" {
			query = "&labelSelector=l%3D" + label
		}
		state := selected(x.states[from], label)
		equalStates(t, "the selected list", x.listed(exact+query), state)
		w := x.watch(from, query)
		last := from
		for {
			peeked, more := w.Peek()
			f, ok := w.Next()
			if more != ok || !bytes.Equal(peeked.Data, f.Data) {
				t.Fatalf("peek and next differ: %s %s", peeked.Data, f.Data)
			}
			if !ok {
				break
			}
			if f.Revision <= last {
				t.Fatalf("revision %d after %d", f.Revision, last)
			}
			last = f.Revision
			x.apply(state, f)
			if rapid.IntRange(0, 2).Draw(t, "drop") == 0 {
				if b, ok := w.Bookmark(); ok && rapid.Bool().Draw(t, "bookmarked") {
					last = max(last, b.Revision)
				}
				w.Close()
				w = x.watch(last, query)
			}
		}
		if w.Behind() != 0 {
			t.Fatalf("%d behind at the end", w.Behind())
		}
		equalStates(t, "list and watch", state, selected(now, label))
		x.checkWatchList(label, query, selected(now, label))
	})
}

// checkWatchList reads the present state as initial events.
func (s *script) checkWatchList(label, query string, want map[string]string) {
	path := widgetDir + "?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
	r := s.send("GET", path+query, "", "")
	state := map[string]string{}
	for {
		f, ok := r.Watch.Next()
		if !ok {
			s.t.Fatal("no bookmark ends the initial events")
		}
		if !f.Initial {
			s.t.Fatalf("not initial: %s", f.Data)
		}
		if f.Type == "BOOKMARK" {
			if f.Revision != s.s.Revision() || !bytes.Contains(f.Data, []byte(`"k8s.io/initial-events-end":"true"`)) {
				s.t.Fatalf("bookmark %s", f.Data)
			}
			break
		}
		s.apply(state, f)
	}
	equalStates(s.t, "the watch-list of "+label, state, want)
}

// TestCompactionExpires: after compaction older lists and watches are gone, and newer ones work as
// before.
func TestCompactionExpires(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newScript(t)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			x.step()
		}
		mark := rapid.SampledFrom(x.past).Draw(t, "mark")
		from := rapid.SampledFrom(x.past).Draw(t, "from")
		x.s.Compact(mark)
		r := x.send("GET", fmt.Sprintf("%s?resourceVersion=%d&resourceVersionMatch=Exact", widgetDir, from), "", "")
		if gone := from < mark; gone != (r.Code == 410) {
			t.Fatalf("list at %d after compaction to %d: %d", from, mark, r.Code)
		}
		f, ok := x.watch(from, "").Next()
		if gone := from < mark; gone != (ok && f.Type == "ERROR") {
			t.Fatalf("watch from %d after compaction to %d: %s", from, mark, f.Data)
		}
	})
}

// TestPagesMakeTheList: pages at one version, joined, are the list at that version, whatever is
// written meanwhile.
func TestPagesMakeTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newScript(t)
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			x.step()
		}
		want := x.states[x.s.Revision()]
		got, query := map[string]string{}, ""
		for {
			r := x.send("GET", fmt.Sprintf("%s?limit=%d%s", widgetDir, rapid.IntRange(1, 3).Draw(t, "limit"), query),
				"", "")
			var page struct {
				Metadata struct{ Continue string }
				Items    []json.RawMessage
			}
			if err := json.Unmarshal(r.Body, &page); err != nil || r.Code != 200 {
				t.Fatalf("%d %s", r.Code, r.Body)
			}
			for _, item := range page.Items {
				got[nameOf(item)] = string(item)
			}
			if page.Metadata.Continue == "" {
				break
			}
			query = "&continue=" + page.Metadata.Continue
			x.step()
		}
		equalStates(t, "the pages", got, want)
	})
}

// TestSameRequestsSameBytes: a server is a function of its seed, its clock and its requests.
func TestSameRequestsSameBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := newScript(t), newScript(t)
		type sent struct{ method, path, contentType, body string }
		requests := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sent {
			name := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name")
			return rapid.SampledFrom([]sent{
				{"POST", configDir, jsonType,
					`{"metadata":{"generateName":"g-","labels":{"a b":"c","d e":"f","g h":"i"}}}`},
				{"POST", configDir, jsonType, `{"metadata":{"generateName":"g-"},"data":{"a":"1","b":"2","c":"3"}}`},
				{"POST", widgetDir, jsonType, widgetBody(name, 3)},
				{"POST", widgetDir, jsonType, strings.Replace(widgetBody(name, 3), `"spec":{`,
					`"spec":{"mode":1,"tags":{"a":1,"b":2,"c":3},`, 1)},
				{"PATCH", widgetDir + "/" + name, mergeType, `{"spec":{"x":1,"y":2,"z":3}}`},
				{"DELETE", widgetDir + "/" + name, "", ""},
				{"GET", widgetDir, "", ""},
				{"GET", configDir, "", ""},
			}).Draw(t, "request")
		}), 1, 20).Draw(t, "requests")
		for _, r := range requests {
			ra, rb := a.send(r.method, r.path, r.contentType, r.body), b.send(r.method, r.path, r.contentType, r.body)
			if ra.Code != rb.Code || !bytes.Equal(ra.Body, rb.Body) || fmt.Sprint(ra.Header) != fmt.Sprint(rb.Header) {
				t.Fatalf("%v:\n%d %s %v\n%d %s %v", r, ra.Code, ra.Body, ra.Header, rb.Code, rb.Body, rb.Header)
			}
		}
	})
}
