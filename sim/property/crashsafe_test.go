package property

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// settledWith is the history of a run that has settled with these objects.
func settledWith(t *testing.T, objects map[history.Ref]any) *history.History {
	t.Helper()
	h := &history.History{}
	uid := 0
	for _, ref := range sorted(objects) {
		body, err := json.Marshal(objects[ref])
		if err != nil {
			t.Fatal(err)
		}
		uid++
		h.Add(history.Event{Kind: history.Request, Process: "user", Changes: []history.Change{
			{Type: "ADDED", Ref: ref, UID: strings.Repeat("u", 10+uid), Object: body}}})
	}
	h.Add(history.Event{Kind: history.Settled})
	return h
}

// compared is what CrashSafe says of two worlds.
func compared(t *testing.T, calm, here map[history.Ref]any, of ...history.Ref) string {
	t.Helper()
	if err := CrashSafe(settledWith(t, calm), of...)(settledWith(t, here)); err != nil {
		return err.Error()
	}
	return ""
}

// expect fails the test unless CrashSafe finds a difference between two worlds, or none.
func expect(t *testing.T, same bool, calm, here map[history.Ref]any, of ...history.Ref) {
	t.Helper()
	if d := compared(t, calm, here, of...); (d == "") != same {
		t.Errorf("%v and %v: %q; expected them to be the same: %v", calm, here, d, same)
	}
}

// at makes an object that has the value at a path of the table.
func at(path []string, value any) any {
	for _, p := range slices.Backward(path) {
		if p == "[]" {
			value = []any{value}
		} else {
			value = map[string]any{p: value}
		}
	}
	return value
}

// Each row of the table is ignored in objects of its kind, and nowhere else.
func TestAllocatedValuesAreIgnored(t *testing.T) {
	for _, a := range allocated {
		if a.path == "" {
			continue
		}
		t.Run(a.kind+" "+a.path, func(t *testing.T) {
			kind, group, _ := strings.Cut(a.kind, ".")
			ref := history.Ref{Group: group, Kind: kind, Namespace: "default", Name: "a"}
			var one, two any = "10.0.0.1", "10.0.0.2"
			if strings.HasSuffix(strings.ToLower(a.path), "port") {
				one, two = 30001, 30002
			}
			path := parts(a.path)
			world := func(ref history.Ref, value any) map[history.Ref]any {
				return map[history.Ref]any{ref: at(path, value)}
			}
			expect(t, true, world(ref, one), world(ref, two))
			expect(t, false, world(ref, "None"), world(ref, two))
			other := ref
			other.Group = "example.com"
			expect(t, false, world(other, one), world(other, two))
		})
	}
}

// A ReplicaSet of an older template is not compared, unless it has pods or no owner.
func TestOlderTemplatesAreIgnored(t *testing.T) {
	rs := func(replicas int, owner string) map[history.Ref]any {
		owners := []any{map[string]any{"kind": owner, "name": "a"}}
		return map[history.Ref]any{{Group: "apps", Kind: "ReplicaSet", Name: "a"}: map[string]any{
			"metadata": map[string]any{"name": "a", "ownerReferences": owners},
			"spec":     map[string]any{"replicas": replicas},
		}}
	}
	for _, c := range []struct {
		replicas int
		owner    string
		ignored  bool
	}{{0, "Deployment", true}, {1, "Deployment", false}, {0, "Rollout", false}} {
		expect(t, c.ignored, nil, rs(c.replicas, c.owner))
	}
	old := history.Ref{Group: "apps", Kind: "ControllerRevision", Name: "a-1"}
	expect(t, true, nil, map[history.Ref]any{old: map[string]any{"revision": 1}})
}

// A Deployment that was deleted and made again may have found the ReplicaSet of the first one, and
// has given its own another name.
func TestTemplateHashesAreIgnored(t *testing.T) {
	type m = map[string]any
	world := func(hash, image string) map[history.Ref]any {
		meta := m{"labels": m{"pod-template-hash": hash}, "name": "a-" + hash}
		pod := m{"labels": m{"pod-template-hash": hash}, "generateName": "a-" + hash + "-", "name": "a-" + hash + "-x"}
		return map[history.Ref]any{
			{Group: "apps", Kind: "ReplicaSet", Name: "a-" + hash}: m{"metadata": meta, "spec": m{"image": image}},
			{Kind: "Pod", Name: "a-" + hash + "-x"}:                m{"metadata": pod, "spec": m{"image": image}},
		}
	}
	expect(t, true, world("57bbd5575f", "x"), world("6465f4cc88", "x"))
	if d := compared(t, world("57bbd5575f", "x"), world("6465f4cc88", "y")); !strings.Contains(d, "ReplicaSet a-…") {
		t.Errorf("another template is not named: %q", d)
	}
}

// Ignored annotations are not compared, whichever writer set them.
func TestIgnoredAnnotations(t *testing.T) {
	world := func(annotations map[string]any) map[history.Ref]any {
		return map[history.Ref]any{{Group: "apps", Kind: "Deployment", Name: "a"}: map[string]any{
			"metadata": map[string]any{"annotations": annotations}}}
	}
	revision := map[string]any{"deployment.kubernetes.io/revision": "1"}
	touched := map[string]any{"deployment.kubernetes.io/revision": "1", "wavetank.example/touched": "1 times"}
	expect(t, true, world(revision), world(touched))
}

// An allocated value is ignored where it is copied, unless the copy is of what exists no longer.
func TestCopiesOfAllocatedValues(t *testing.T) {
	world := func(ip, url string, port any) map[history.Ref]any {
		return map[history.Ref]any{
			{Kind: "Service", Name: "a"}: map[string]any{"spec": map[string]any{
				"clusterIP": ip, "ports": []any{map[string]any{"name": "http", "nodePort": port}}}},
			{Group: "example.com", Kind: "Site", Name: "a"}: map[string]any{
				"status": map[string]any{"url": url, "port": port}},
		}
	}
	site := history.Ref{Group: "example.com"}
	calm := world("10.0.0.1", "http://10.0.0.1:80/", 30001)
	for _, of := range [][]history.Ref{nil, {site}} {
		expect(t, true, calm, world("10.0.0.12", "http://10.0.0.12:80/", 30007), of...)
		d := compared(t, calm, world("10.0.0.1", "http://10.0.0.12:80/", 30001), of...)
		want := `.status.url is "http://10.0.0.12:80/", undisturbed "http://an allocated value:80/"`
		if !strings.HasSuffix(d, want) {
			t.Errorf("a copy of an unknown address: %q", d)
		}
	}
}

// A violation names each field that differs, in order, with both values, and is short.
func TestDifferencesHaveBothValues(t *testing.T) {
	object := func(spec map[string]any) map[history.Ref]any {
		return map[history.Ref]any{{Kind: "ConfigMap", Namespace: "default", Name: "a"}: map[string]any{"spec": spec}}
	}
	type m = map[string]any
	for _, c := range []struct {
		what       string
		calm, here map[history.Ref]any
		want       string
	}{
		{"a value", object(m{"k": 1}), object(m{"k": "x"}), `ConfigMap default/a .spec.k is "x", undisturbed 1`},
		{"a field here", object(m{}), object(m{"a.b/c": true}),
			`ConfigMap default/a .spec["a.b/c"] is true, undisturbed nothing`},
		{"a field there", object(m{"k": nil}), object(m{}),
			`ConfigMap default/a .spec.k is nothing, undisturbed null`},
		{"a named element",
			object(m{"l": []any{m{"name": "x", "v": 1}, m{"name": "y"}}}),
			object(m{"l": []any{m{"name": "y"}, m{"name": "x", "v": 2}}}),
			`ConfigMap default/a .spec.l[x].v is 2, undisturbed 1`},
		{"how many there are", object(m{"l": []any{"x", "x", "y"}}), object(m{"l": []any{"y", "x"}}),
			`ConfigMap default/a .spec.l[] lacks "x", undisturbed it has it`},
		{"elements without names",
			object(m{"l": []any{m{"v": 1}, m{"v": 2}}}),
			object(m{"l": []any{m{"v": 2}, m{"v": 3}, m{"v": 4}}}),
			"ConfigMap default/a .spec.l[].v is 3, undisturbed 1; " +
				`ConfigMap default/a .spec.l[] has {"v":4}, undisturbed it has not`},
		{"no object", object(m{}), nil, `ConfigMap default/a does not exist here, undisturbed it does`},
		{"what is long", object(m{"k": strings.Repeat("é", 100)}), object(m{"k": 1}),
			`ConfigMap default/a .spec.k is 1, undisturbed "` + strings.Repeat("é", 29) + `…`},
		{"many fields", object(m{}), object(m{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}),
			`; and 2 more`},
	} {
		got := compared(t, c.calm, c.here)
		begin := "at 00:00.000 the world differs from the undisturbed run: "
		if !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
		}
	}
}

// A Secret has its data in base64, and a UID in it differs as everywhere else.
func TestCrashSafeReadsSecrets(t *testing.T) {
	world := func(uid int, other string) map[history.Ref]any {
		return map[history.Ref]any{
			{Kind: "ConfigMap", Name: "owner"}: map[string]any{},
			{Kind: "Secret", Name: "record"}: map[string]any{"data": map[string]any{
				"owner": []byte(strings.Repeat("u", uid)), "other": []byte(other)}},
		}
	}
	shifted := world(12, "1")
	shifted[history.Ref{Kind: "ConfigMap", Name: "before"}] = map[string]any{} // the owner's UID is the second
	of := history.Ref{Kind: "Secret"}
	expect(t, true, world(11, "1"), shifted, of)
	if said := compared(t, world(11, "1"), world(11, "2"), of); !strings.Contains(said, `.data.other is "2"`) {
		t.Errorf("another value is not named: %q", said)
	}
}

// A password that a program draws is another one in each run, in copies too. One that a person has
// chosen is compared.
func TestRandomValuesAreIgnored(t *testing.T) {
	world := func(password, url string) map[history.Ref]any {
		return map[history.Ref]any{
			{Kind: "Secret", Name: "login"}:  map[string]any{"data": map[string]any{"password": []byte(password)}},
			{Kind: "ConfigMap", Name: "url"}: map[string]any{"data": map[string]any{"url": url}},
		}
	}
	const one, two = "3FIOFZIUSB7FFFK5MYSUWQEKPO", "337D4BB6EK5KIYUUNOWPN5YTMU"
	for _, c := range []struct {
		calm, here map[history.Ref]any
		ignored    bool
	}{
		{world(one, "db://app:"+one+"@db"), world(two, "db://app:"+two+"@db"), true},
		{world(one, "db://app:"+one+"@db"), world(two, "db://app:"+one+"@db"), false},
		{world(one, ""), world("", ""), false},
		{world(one, ""), world("FMRKOMKVJIRPICTQOBISWBRDJI", ""), true},
		{world("-----BEGIN KEY-----\na", ""), world("-----BEGIN KEY-----\nb", ""), true},
		{world("secret", ""), world("other", ""), false},
		{world("database-of-the-shop-1", ""), world("database-of-the-shop-2", ""), false},
		{world("1234567890123456", ""), world("1234567890123457", ""), false},
	} {
		expect(t, c.ignored, c.calm, c.here)
	}
}

// A keystore is another one each time, as there is salt in it. That there is none is seen.
func TestWhatIsNoTextIsIgnored(t *testing.T) {
	const one, two = "\x30\x82\x0e with the salt", "\x30\x82\x0f with other salt"
	for kind, field := range map[string]string{"Secret": "data", "ConfigMap": "binaryData"} {
		world := func(store string) map[history.Ref]any {
			data := map[string]any{field: map[string]any{"store": []byte(store)}}
			return map[history.Ref]any{{Kind: kind, Name: "a"}: data}
		}
		expect(t, true, world(one), world(two))
		for _, other := range []string{"", "a text", "\xff"} {
			expect(t, false, world(one), world(other))
		}
	}
}

// Two runs number their writes differently. A copy of an object's newest resource version is the
// same in both; that of an older one, and any other number, is not.
func TestCopiesOfVersionsAreIgnored(t *testing.T) {
	settings, noise := history.Ref{Kind: "ConfigMap", Name: "settings"}, history.Ref{Kind: "ConfigMap", Name: "noise"}
	copier := history.Ref{Kind: "Deployment", Name: "app"}
	world := func(version, other, copied string) map[history.Ref]any {
		at := func(v string) any { return map[string]any{"metadata": map[string]any{"resourceVersion": v}} }
		return map[history.Ref]any{settings: at(version), noise: at(other),
			copier: map[string]any{"spec": map[string]any{"config": copied, "all": []any{copied, "x"}}}}
	}
	for _, c := range []struct {
		calm, here map[history.Ref]any
		ignored    bool
	}{
		{world("22", "5", "22"), world("23", "5", "23"), true},
		{world("22", "5", "22"), world("30", "5", "23"), false},  // an older version
		{world("22", "5", "22"), world("23", "22", "22"), true},  // as it reads the same
		{world("22", "5", "22"), world("23", "24", "24"), false}, // of another object
		{world("22", "5", "7"), world("23", "5", "7"), true},     // any number
		{world("22", "5", "7"), world("23", "5", "8"), false},
	} {
		expect(t, c.ignored, c.calm, c.here)
	}
}

// A time of the run differs between any two runs, as Unix time too. Other numbers are compared.
func TestUnixTimesAreIgnored(t *testing.T) {
	world := func(v any) map[history.Ref]any {
		return map[history.Ref]any{{Kind: "ConfigMap", Name: "a"}: map[string]any{"data": map[string]any{"at": v}}}
	}
	for _, c := range []struct {
		one, two any
		ignored  bool
	}{
		{946684805, 946684860, true},
		{"946684805", "946684860", true},
		{"946684805123", "946684860123456789", true},
		{946684799, 946684860, false},
		{"946684805", "1000000000", false},
		{"946684805", "946684860s", false},
		{1, 2, false},
	} {
		expect(t, c.ignored, world(c.one), world(c.two))
	}
}

// A number of attempts may be ahead by as many as have failed. A number of anything else may not,
// and one that is behind has lost something.
func TestAttemptsMayBeAhead(t *testing.T) {
	ref := history.Ref{Group: "example.com", Kind: "Mail", Name: "a"}
	for _, c := range []struct {
		field      string
		calm, here any
		failures   int
		ignored    bool
	}{
		{"failed", nil, "1", 1, true},
		{"attempts", 1, 3, 2, true},
		{"retryCount", 0, 1, 1, true},
		{"attempts", 1, 3, 1, false},
		{"attempts", 3, 1, 2, false},
		{"replicas", 1, 2, 1, false},
		{"failed", nil, true, 1, false},
		{"failed", "no", "1", 1, false},
	} {
		world := func(v any) map[history.Ref]any {
			status := map[string]any{c.field: v}
			if v == nil {
				delete(status, c.field)
			}
			return map[history.Ref]any{ref: map[string]any{"status": status}}
		}
		here := &history.History{}
		for range c.failures {
			here.Add(history.Event{Kind: history.Done, Process: "op", Incarnation: 1,
				Outcome: history.Outcome{Kind: history.OutcomeFailure}})
		}
		for _, e := range settledWith(t, world(c.here)).Events {
			here.Add(e)
		}
		err := CrashSafe(settledWith(t, world(c.calm)))(here)
		if (err == nil) != c.ignored {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Two objects that have each other's value differ in nothing else.
func TestExchangedValues(t *testing.T) {
	world := func(a, b, other any) map[history.Ref]any {
		port := func(v any) any { return map[string]any{"data": map[string]any{"port": v}} }
		return map[history.Ref]any{{Kind: "ConfigMap", Name: "a"}: port(a), {Kind: "ConfigMap", Name: "b"}: port(b),
			{Kind: "Service", Name: "c"}: port(other)}
	}
	for _, c := range []struct {
		calm, here map[history.Ref]any
		want       bool
	}{
		{world(1, 2, 0), world(2, 1, 0), true},
		{world(1, 2, 0), world(2, 2, 0), false},
		{world(1, 2, 0), world(2, 1, 1), false},
		{world(1, 1, 2), world(2, 1, 1), false},
	} {
		err := CrashSafe(settledWith(t, c.calm))(settledWith(t, c.here))
		is := (interface{ Exchanged() bool })(nil)
		if !errors.As(err, &is) || is.Exchanged() != c.want {
			t.Errorf("%v and %v: %v", c.calm, c.here, err)
		}
	}
}
