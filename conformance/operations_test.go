//go:build conformance

package conformance

// What the differential test can do: operations drawn at random and written as lines of a script,
// so that a difference is printed in the language of the table.

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// idle is drawn when nothing is done; sequences shrink towards it.
const idle = ""

func oneOf(t *rapid.T, label string, values ...string) string {
	return rapid.SampledFrom(values).Draw(t, label)
}

// operation draws one line. What the real server answers from a cache that may lag (reads and
// watches at version zero or without one) is left to the table, where a row can make the cache
// catch up first.
func operation(t *rapid.T) string {
	kind := oneOf(t, "kind", strings.Fields(*drawnKinds)...)
	name := kind + "/" + oneOf(t, "name", "a", "b", "c")
	client := oneOf(t, "client", "ann", "bob")
	// What is drawn first is what sequences shrink to, and what is drawn often is named often.
	line := ""
	switch oneOf(t, "operation", "idle", "create", "create", "create", "update", "update", "patch", "patch", "patch",
		"status",
		"delete", "delete", "finalize", "get", "list", "collection", "watch", "scale") {
	case "create":
		line = "POST " + kind + query(t) + " " + object(t, kind, name, "")
	case "update":
		line = "PUT " + name + query(t) + " " + object(t, kind, name, version(t, name))
	case "patch":
		line = patch(t, kind, name)
	case "status":
		line = status(t, kind, name)
	case "delete":
		line = "DELETE " + name + options(t, name)
	case "finalize":
		line = "MERGE " + name + " {metadata: {finalizers: " + oneOf(t, "finalizers", "null", "[]", "[x.example/one]",
			"[x.example/two]") + "}}"
	case "get":
		line = "GET " + name + oneOf(t, "sub", "", "/status")
	case "list":
		line = "GET " + kind + "?" + listing(t, kind)
	case "collection":
		line = "DELETE " + kind + "?" + selector(t) + oneOf(t, "dry", "", "&dryRun=All")
	case "watch":
		line = "WATCH " + kind + "?" + selector(t) + oneOf(t, "from", "&resourceVersion=$rv("+kind+",0)",
			"&resourceVersion=$rv("+name+",1)",
			"&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
	case "scale":
		// Numbers that nothing else draws: to scale to what is there already is a write on the real
		// server, for its ownership, and an accepted difference.
		line = "MERGE " + name + "/scale {spec: {replicas: " + oneOf(t, "replicas", "7", "0", "-1") + "}}"
	}
	if line == "" {
		return idle
	}
	return client + ": " + line
}

func query(t *rapid.T) string {
	return oneOf(t, "query", "", "", "", "", "", "?dryRun=All", "?fieldValidation=Strict", "?fieldManager=m")
}

func version(t *rapid.T, name string) string {
	return oneOf(t, "version", "resourceVersion: '$rv("+name+",0)', ", "", "resourceVersion: '$rv("+name+",1)', ",
		"resourceVersion: '', ", "uid: '$uid("+name+",0)', ", "resourceVersion: '$rv("+name+",0)', "+
			"uid: '$uid("+name+",1)', ")
}

// object draws a whole object. Some are not valid, some have unknown fields.
func object(t *rapid.T, kind, name, version string) string {
	return "{" + drawnMeta(t, name, version) + payload(t, kind) + oneOf(t, "extra", "", "", "", "", "",
		", nonsense: 1") + "}"
}

func drawnMeta(t *rapid.T, name, version string) string {
	_, short, _ := strings.Cut(name, "/")
	return "metadata: {name: " + short + ", " + version + oneOf(t, "labels", "labels: {app: x}",
		"labels: {app: z, tier: one}", "labels: {}",
		"labels: {app: 'not valid'}", "annotations: {n: m}") + oneOf(t, "finalizers", "", "",
		", finalizers: [x.example/one]",
		", finalizers: [x.example/one, x.example/two]") + oneOf(t, "owners", "", "", "",
		", ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u}]") + "}"
}

func payload(t *rapid.T, kind string) string {
	switch kind {
	case "cm":
		return oneOf(t, "payload", ", data: {k: v}", ", data: {k: w, l: x}", "", ", immutable: true, data: {k: v}",
			", data: {'a b': v}", ", data: 7")
	case "secret":
		return oneOf(t, "payload", ", data: {k: dg==}", ", stringData: {k: w}", "", ", type: example/x",
			", immutable: true", ", data: {k: '***'}")
	case "deploy":
		replicas := oneOf(t, "replicas", "", "replicas: 2, ", "replicas: -1, ")
		image := oneOf(t, "image", "i", "j", "'i:v1'")
		return fmt.Sprintf(", spec: {%sselector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: x}}, "+
			"spec: "+
			"{containers: [{name: c, image: %s}]}}}%s", replicas, oneOf(t, "selector", "x", "x", "z"), image, oneOf(t,
			"status", "", ", status: {replicas: 3}"))
	case "pod":
		return fmt.Sprintf(", spec: {%s%scontainers: [{name: c, image: %s}]}", oneOf(t, "node", "", "nodeName: n1, "),
			oneOf(t, "grace", "", "terminationGracePeriodSeconds: 17, "), oneOf(t, "image", "i", "j"))
	case "widget":
		return oneOf(t, "payload", ", spec: {color: red}", ", spec: {replicas: 2, tags: [a, b]}", "",
			", spec: {color: pink}",
			", spec: {ports: [{name: x, port: 1}]}, status: {phase: New}", ", spec: {tags: [a, a]}", ", "+
				"spec: {nonsense: 1}")
	}
	return oneOf(t, "payload", ", spec: {a: 1}", "", ", status: {a: {b: []}}",
		", spec: {a: null, l: [1, 1.5]}, more: {}")
}

func patch(t *rapid.T, kind, name string) string {
	switch oneOf(t, "patch", "MERGE", "JSON", "STRATEGIC") {
	case "MERGE":
		return "MERGE " + name + query(t) + " " + partial(t, kind, name)
	case "STRATEGIC":
		return "STRATEGIC " + name + query(t) + " " + partial(t, kind, name)
	}
	path := oneOf(t, "path", "/metadata/labels/app", "/metadata/labels", "/metadata/finalizers/0",
		"/metadata/finalizers/-", "/metadata/finalizers",
		"/metadata/resourceVersion", "/data/k", "/spec/replicas", "/spec/color",
		"/spec/template/spec/containers/0/image", "/metadata/annotations/n",
		"/spec/containers/0/image", "/spec/tags/0", "/status/phase")
	value := map[string]string{
		"/metadata/labels": "{app: x}", "/metadata/finalizers": "[x.example/one]",
		"/metadata/finalizers/-":    "x.example/two",
		"/metadata/resourceVersion": "'$rv(" + name + ",0)'", "/spec/replicas": "3", "/data/k": "dg==",
		"/spec/color": "blue",
	}[path]
	if value == "" {
		value = "x"
	}
	op := oneOf(t, "op", "replace", "add", "remove", "test")
	rest := ""
	if op == "test" {
		rest = ", {op: add, path: /metadata/labels, value: {app: z}}"
	}
	return fmt.Sprintf("JSON %s [{op: %s, path: %s, value: %s}%s]", name, op, path, value, rest)
}

// partial draws what a merge patch says.
func partial(t *rapid.T, kind, name string) string {
	common := []string{
		"{metadata: {labels: {app: x}}}", "{metadata: {labels: {app: null}}}",
		"{metadata: {labels: {app: z}, annotations: {n: m}}}",
		"{metadata: {resourceVersion: '$rv(" + name + ",0)', labels: {app: z}}}",
		"{metadata: {resourceVersion: '$rv(" + name + ",1)', labels: {app: z}}}",
		"{metadata: {finalizers: [x.example/one]}}", "{metadata: {finalizers: null}}",
		"{metadata: {labels: {app: 'not valid'}}}", "{}",
		"{metadata: {uid: '$uid(" + name + ",1)'}}", "{metadata: {name: other}}", "{nonsense: 1}",
		"{metadata: {ownerReferences: null}}",
	}
	own := map[string][]string{
		"cm":     {"{data: {k: w}}", "{data: {k: null}}", "{data: null}", "{immutable: true}", "{data: {k: 7}}"},
		"secret": {"{stringData: {k: w}}", "{data: {k: null}}", "{type: example/z}", "{immutable: true}"},
		"deploy": {"{spec: {replicas: 3}}", "{spec: {replicas: null}}", "{spec: {replicas: -1}}",
			"{spec: {paused: true}}", "{status: {replicas: 3}}",
			"{spec: {selector: {matchLabels: {app: z}}}}",
			"{spec: {template: {spec: {containers: [{name: c, image: j}]}}}}",
			"{spec: {template: {spec: {containers: [{name: d, image: j}]}}}}"},
		"pod": {"{spec: {activeDeadlineSeconds: 9}}", "{spec: {containers: [{name: c, image: j}]}}",
			"{spec: {nodeName: n2}}", "{status: {phase: Failed}}"},
		"widget": {"{spec: {color: blue}}", "{spec: {replicas: null}}", "{spec: null}", "{spec: {color: pink}}",
			"{status: {phase: New}}",
			"{spec: {tags: [b]}}", "{spec: {nonsense: 1}}"},
		"gadget": {"{spec: {b: 2}}", "{spec: {a: null}}", "{status: {a: 1}}", "{spec: null}",
			"{metadata: {generation: 9}}"},
	}[kind]
	return oneOf(t, "partial", append(append(common, own...), own...)...)
}

func status(t *rapid.T, kind, name string) string {
	body := map[string]string{
		"deploy": "replicas: 2, observedGeneration: 1",
		"pod":    "phase: " + oneOf(t, "phase", "Running", "Succeeded", "Failed"),
		"widget": "phase: " + oneOf(t, "phase", "New", "Ready", "Odd"), "gadget": "a: 1", "cm": "a: 1",
		"secret": "a: 1",
	}[kind]
	if oneOf(t, "how", "patch", "update") == "patch" {
		return "MERGE " + name + "/status " + oneOf(t, "with", "{", "{metadata: {labels: {app: z}}, ",
			"{metadata: {finalizers: null}, ",
			"{metadata: {resourceVersion: '$rv("+name+",1)'}, ") + "status: {" + body + "}}"
	}
	full := object(t, kind, name, version(t, name))
	return "PUT " + name + "/status " + strings.TrimSuffix(full, "}") + map[bool]string{true: "",
		false: ", status: {" + body + "}"}[strings.Contains(full, "status:")] + "}"
}

// options draws delete options, in the query or in the body.
func options(t *rapid.T, name string) string {
	return oneOf(t, "options", "", "", " {gracePeriodSeconds: 0}", " {gracePeriodSeconds: 17}",
		"?gracePeriodSeconds=17", "?dryRun=All",
		" {propagationPolicy: Foreground}", " {propagationPolicy: Orphan}", "?propagationPolicy=Background",
		" {orphanDependents: false}",
		" {preconditions: {uid: '$uid("+name+",0)'}}", " {preconditions: {resourceVersion: '$rv("+name+",0)'}}",
		" {preconditions: {resourceVersion: '$rv("+name+",1)'}}", " {propagationPolicy: Sideways}")
}

func selector(t *rapid.T) string {
	return oneOf(t, "selector", "labelSelector=app%3Dx", "labelSelector=", "labelSelector=app!%3Dx",
		"labelSelector=app+in+(x,z),!tier",
		"fieldSelector=metadata.name%3Da", "fieldSelector=metadata.name!%3Da&labelSelector=app")
}

func listing(t *rapid.T, kind string) string {
	return selector(t) + oneOf(t, "listing", "", "&limit=1", "&limit=1&continue=$cont("+kind+",0)", "&limit=2",
		"&resourceVersion=$rv("+kind+",0)&resourceVersionMatch=Exact", "&resourceVersion=$rv("+kind+"/a,"+
			"0)&resourceVersionMatch=Exact", "&resourceVersion=$rv("+kind+",0)&resourceVersionMatch=Exact&limit=1")
}

// applying draws one line, every other time an apply.
func applying(t *rapid.T) string {
	if rapid.Bool().Draw(t, "other") {
		return operation(t)
	}
	kind := oneOf(t, "kind", strings.Fields(*drawnKinds)...)
	name := kind + "/" + oneOf(t, "name", "a", "b")
	return apply(t, name, object(t, kind, name, ""))
}

func apply(t *rapid.T, name, object string) string {
	return "ann: APPLY " + name + oneOf(t, "at", "", "", "", "", "/status") + "?fieldManager=" + oneOf(t, "manager",
		"one", "two", "three") +
		oneOf(t, "how", "", "", "", "&force=true", "&dryRun=All") + " " +
		// An empty map in metadata is a row of its own (an accepted difference), and after an
		// unknown field the real server looks no further, in the order of a map.
		strings.NewReplacer("labels: {}", "labels: {app: z}", ", nonsense: 1", "", "{nonsense: 1}",
			"{}").Replace(object)
}
