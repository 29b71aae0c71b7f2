package property

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// What differs between two undisturbed runs is random, and is not compared with a third run. What
// the two have in common is.
func TestRandomFieldsAreLeftOut(t *testing.T) {
	type m = map[string]any
	const u1, u2, u3, u4 = "5f0c1a2b-77aa", "9d3e4f60-b0c1", "0a1b2c3d-e4f5", "44aa55bb-66cc"
	// An owner that keeps its reference, a child named by it, and a copy in a URL.
	world := func(kept, child, url string) map[history.Ref]any {
		return map[history.Ref]any{
			{Kind: "App", Namespace: "default", Name: "a"}: m{"status": m{"ref": kept, "phase": "Ready",
				"seen": m{child: m{"ok": true}}, "all": []any{"fixed", child}}},
			{Kind: "ConfigMap", Namespace: "default", Name: "a-" + child}: m{
				"metadata": m{"name": "a-" + child}, "data": m{"url": "https://h/" + url + "/x"}},
		}
	}
	other := func(change func(app, child m)) map[history.Ref]any {
		w := world(u3, u3, u3)
		change(w[history.Ref{Kind: "App", Namespace: "default", Name: "a"}].(m)["status"].(m),
			w[history.Ref{Kind: "ConfigMap", Namespace: "default", Name: "a-" + u3}].(m))
		return w
	}
	twice := world(u3, u3, u3)
	twice[history.Ref{Kind: "ConfigMap", Namespace: "default", Name: "a-" + u4}] = m{
		"metadata": m{"name": "a-" + u4}, "data": m{"url": "https://h/" + u4 + "/x"}}
	for _, c := range []struct {
		what string
		here map[history.Ref]any
		want string // a part of what is said
	}{
		{"another value everywhere", world(u3, u3, u3), ""},
		{"a child made twice", twice, "ConfigMap default/a-… exists here"},
		{"the record of another child", world(u4, u3, u3), "a random value other than that at"},
		{"the address of another child", world(u3, u3, u4), "a random value other than that at"},
		{"no value", other(func(app, _ m) { app["ref"] = "" }), `.status.ref is "", undisturbed "random value 1"`},
		{"a field that is gone", other(func(app, _ m) { delete(app, "ref") }), ".status.ref is nothing"},
		{"another fixed field", other(func(app, _ m) { app["phase"] = "Failed" }), `.phase is "Failed"`},
		{"another fixed element", other(func(app, _ m) { app["all"] = []any{"broken", u3} }), `undisturbed "fixed"`},
		{"an entry too many", other(func(app, _ m) { app["seen"].(m)[u4] = m{"ok": true} }), ".status.seen"},
		{"another fixed part", other(func(_, child m) { child["data"] = m{"url": "http://g/" + u3 + "/x"} }),
			"http://g/"},
	} {
		t.Run(c.what, func(t *testing.T) {
			calm := settledWith(t, world(u1, u1, u1))
			calm.Redrawn = func() *history.History { return settledWith(t, world(u2, u2, u2)) }
			said := ""
			if err := CrashSafe(calm)(settledWith(t, c.here)); err != nil {
				said = err.Error()
			}
			if c.want == "" && said != "" || !strings.Contains(said, c.want) {
				t.Errorf("%q, want %q", said, c.want)
			}
			if said != "" && !strings.Contains(said, "fields are left out, as their values are random") {
				t.Errorf("it does not say that something was left out: %q", said)
			}
		})
	}
}

// Values of few alternatives are equal by chance, so they are no copies of one another.
func TestShortRandomValuesAreNoCopies(t *testing.T) {
	world := func(shard, port any, on bool) map[history.Ref]any {
		return map[history.Ref]any{{Kind: "App", Name: "a"}: map[string]any{"shard": shard, "port": port, "on": on}}
	}
	calm := settledWith(t, world(3, 3, true))
	calm.Redrawn = func() *history.History { return settledWith(t, world(4, 4, false)) }
	if err := CrashSafe(calm)(settledWith(t, world(5, 7, true))); err != nil {
		t.Error(err)
	}
	if err := CrashSafe(calm)(settledWith(t, world("none", 7, true))); err == nil {
		t.Error("a text in place of a number is not compared")
	}
}
