//go:build conformance

package conformance

// Objects of random types: values that fit a schema, and values with one flaw.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// values draws what fits a schema.
type values struct {
	t *rapid.T
	// flaws is how many flaws are still to be made. It is one at most, because the real server
	// reports several in the order of a map, or only the first.
	flaws int
	// parts leaves things out as a patch does, and deletes with null.
	parts bool
}

// sound is a value that fits.
func sound(t *rapid.T, p *props) any { return (&values{t: t}).of(p) }

func (v *values) of(p *props) any {
	if v.flaws > 0 && rapid.IntRange(0, 3).Draw(v.t, "flaw") == 3 {
		v.flaws--
		return oneOfAny[any](v.t, "wrong", nil, 7, "not it", true, 1.5, -1, 1e12, []any{}, []any{1, 1},
			map[string]any{"nonsense": 1}, "much too long", "")
	}
	if p.Nullable && rapid.IntRange(0, 3).Draw(v.t, "null") == 3 {
		return nil
	}
	switch {
	case p.XIntOrString:
		return oneOfAny[any](v.t, "either", 80, "http", 0)
	case p.XEmbeddedResource:
		return v.embedded()
	case p.XPreserveUnknownFields != nil:
		return oneOfAny[any](v.t, "kept", map[string]any{"a": "x"}, map[string]any{},
			map[string]any{"more": []any{1, map[string]any{"q": nil}}}, map[string]any{"a": "y", "more": 1.5})
	}
	switch p.Type {
	case "object":
		return v.object(p)
	case "array":
		return v.array(p)
	case "integer":
		return oneOfAny(v.t, "integer", 1, 0, 2, 3, 9)
	case "number":
		return oneOfAny[any](v.t, "number", 1, 0.5, 1.5, 2.0)
	case "boolean":
		return rapid.Bool().Draw(v.t, "boolean")
	}
	formats := map[string][]string{
		"date-time": {"2020-01-01T00:00:00Z", "2021-01-01T00:00:00.5+01:00"}, "date": {"2020-01-01"},
		"duration": {"1h", "90s"}, "byte": {"eA==", "eHk="},
	}
	return oneOf(v.t, "string",
		append([]string{"x", "y", "z"}, formats[p.Format]...)[3*min(1, len(formats[p.Format])):]...)
}

func (v *values) object(p *props) any {
	out := map[string]any{}
	if p.AdditionalProperties != nil {
		for _, key := range []string{"k", "l", "m"} {
			if rapid.Bool().Draw(v.t, "key") {
				out[key] = v.of(p.AdditionalProperties.Schema)
			}
		}
		return out
	}
	required := p.Required
	if len(p.OneOf) > 0 {
		required = []string{oneOf(v.t, "one of", "a", "b")}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		child := p.Properties[name]
		switch {
		case slices.Contains(required, name) && !v.parts:
			if v.flaws > 0 && rapid.IntRange(0, 9).Draw(v.t, "missing") == 9 {
				v.flaws--
				continue
			}
			out[name] = v.of(&child)
		case len(p.OneOf) > 0 && !v.parts:
		case rapid.Bool().Draw(v.t, "present"):
			out[name] = v.of(&child)
			if v.parts && rapid.IntRange(0, 4).Draw(v.t, "deleted") == 4 {
				out[name] = nil
			}
		}
	}
	if v.flaws > 0 && rapid.IntRange(0, 5).Draw(v.t, "unknown") == 5 {
		v.flaws--
		out["nonsense"] = 1
	}
	return out
}

func (v *values) array(p *props) any {
	out := []any{}
	item := p.Items.Schema
	n := rapid.IntRange(int(deref(p.MinItems)), 3).Draw(v.t, "length")
	if v.flaws > 0 && n > 0 && rapid.IntRange(0, 5).Draw(v.t, "twice") == 5 {
		v.flaws--
		out = append(out, sound(v.t, item))
		out = append(out, out[0])
		return out
	}
	seen := map[string]bool{}
	for range n {
		whole := *v
		whole.parts = false // a list is given whole, even in a patch
		e := whole.of(item)
		v.flaws = whole.flaws
		if key := identity(p, e); !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out
}

// identity is what may be in a list once only.
func identity(p *props, e any) string {
	if item, ok := e.(map[string]any); ok && p.XListType != nil && *p.XListType == "map" {
		port := item["port"]
		if port == nil {
			port = 1
		}
		return fmt.Sprint(item["key"], port)
	}
	return fmt.Sprint(e)
}

func (v *values) embedded() any {
	meta := map[string]any{"name": oneOf(v.t, "name", "p", "q")}
	if rapid.Bool().Draw(v.t, "labels") {
		meta["labels"] = map[string]any{"app": oneOf(v.t, "label", "x", "z")}
	}
	if rapid.Bool().Draw(v.t, "finalizers") {
		meta["finalizers"] = []any{oneOf(v.t, "finalizer", "x.example/one", "x.example/two")}
	}
	out := map[string]any{"apiVersion": "v1", "kind": oneOf(v.t, "kind", "Pod", "Other"), "metadata": meta}
	if rapid.Bool().Draw(v.t, "more") {
		out["spec"] = map[string]any{"l": []any{1, oneOf(v.t, "item", "x", "y")}}
	}
	return out
}

func deref(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

func jsonText(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// flawed draws how many flaws a value has: mostly none.
func flawed(t *rapid.T) int { return max(0, rapid.IntRange(-4, 1).Draw(t, "flaws")) }

// drawnType is one version of one drawn definition.
type drawnType struct {
	schema props
	fields []string // field selectors
}

// object draws a whole object.
func (d *drawnType) object(t *rapid.T, name, version string, flaws int) string {
	text := "{" + drawnMeta(t, name, version)
	spec, status := d.schema.Properties["spec"], d.schema.Properties["status"]
	if rapid.IntRange(0, 9).Draw(t, "spec") > 0 {
		text += ", spec: " + jsonText((&values{t: t, flaws: flaws}).of(&spec))
	}
	if rapid.IntRange(0, 3).Draw(t, "status") == 3 {
		text += ", status: " + jsonText(sound(t, &status))
	}
	return text + "}"
}

// path draws a place in an object for a JSON patch, and a value that fits it.
func (d *drawnType) path(t *rapid.T) (string, string) {
	at, p := "/spec", d.schema.Properties["spec"]
	for depth := 0; depth < 4; depth++ {
		switch {
		case len(p.Properties) > 0 && p.XPreserveUnknownFields == nil:
			name := oneOf(t, "property", slices.Sorted(maps.Keys(p.Properties))...)
			at, p = at+"/"+name, p.Properties[name]
		case p.AdditionalProperties != nil:
			at, p = at+"/k", *p.AdditionalProperties.Schema
		case p.Items != nil && rapid.Bool().Draw(t, "item"):
			at, p = at+oneOf(t, "index", "/0", "/-", "/1"), *p.Items.Schema
		default:
			depth = 4
		}
		if rapid.IntRange(0, 3).Draw(t, "deeper") == 3 {
			break
		}
	}
	return at, jsonText((&values{t: t, flaws: flawed(t)}).of(&p))
}

// operation draws one line about an object of the type.
func (d *drawnType) operation(t *rapid.T, kind string) string {
	name := kind + "/" + oneOf(t, "name", "a", "b")
	spec, status := d.schema.Properties["spec"], d.schema.Properties["status"]
	line := ""
	switch oneOf(t, "operation", "idle", "create", "create", "apply", "apply", "apply", "apply", "apply", "update",
		"update", "merge", "merge", "merge",
		"json", "json", "status", "status", "delete", "finalize", "get", "list", "watch", "scale", "collection") {
	case "create":
		line = "POST " + kind + query(t) + " " + d.object(t, name, "", flawed(t))
	case "apply":
		return apply(t, name, d.object(t, name, "", flawed(t)))
	case "update":
		line = "PUT " + name + query(t) + " " + d.object(t, name, version(t, name), flawed(t))
	case "merge":
		line = "MERGE " + name + query(t) + " " +
			jsonText(map[string]any{"spec": (&values{t: t, flaws: flawed(t), parts: true}).of(&spec)})
	case "json":
		at, value := d.path(t)
		line = "JSON " + name + " [{op: " + oneOf(t, "op", "replace", "add", "remove", "test") + ", path: " + at +
			", value: " + value + "}]"
	case "status":
		line = "MERGE " + name + "/status " + jsonText(map[string]any{"status": (&values{t: t, flaws: flawed(t),
			parts: true}).of(&status), "spec": sound(t, &spec)})
	case "delete":
		line = "DELETE " + name + options(t, name)
	case "finalize":
		line = "MERGE " + name + " {metadata: {finalizers: " + oneOf(t, "finalizers", "null", "[]",
			"[x.example/one]") + "}}"
	case "get":
		line = "GET" + oneOf(t, "as", "", "", "+table", "+meta") + " " + name
	case "list":
		line = "GET" + oneOf(t, "as", "", "", "+table") + " " + kind + "?" + oneOf(t, "selector",
			append(d.fields, "labelSelector=app%3Dx", "fieldSelector=spec.none%3D1")...)
	case "watch":
		line = "WATCH " + kind + "?resourceVersion=$rv(" + kind + ",0)&" + oneOf(t, "selector",
			append(d.fields, "labelSelector=app%3Dx", "labelSelector=")...)
	case "scale":
		line = "MERGE " + name + "/scale {spec: {replicas: " + oneOf(t, "replicas", "7", "8", "0", "-1") + "}}"
	case "collection":
		line = "DELETE " + kind + "?" + selector(t)
	}
	if line == "" {
		return idle
	}
	return oneOf(t, "client", "ann", "bob") + ": " + strings.TrimSpace(line)
}
