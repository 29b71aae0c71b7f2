package conformance

// What a mutating webhook leaves behind that a schema would drop or fill in: nulls, unknown fields,
// removed defaults. The objects are written again and again, because only then is it seen whether
// nothing counts as a change.

import (
	"slices"
	"strings"
	"time"
)

// gizmoTemplates are gizmos with templates as generated definitions have them: without the fields
// of their metadata, with some of them, and as an embedded resource.
const gizmoTemplates = `
type: object
properties:
  spec:
    type: object
    properties:
      count: {type: integer, default: 1}
      title: {type: string, maxLength: 9}
      note: {type: string, nullable: true}
      template: {type: object, properties: {metadata: {type: object},
        spec: {type: object, properties: {x: {type: string}, y: {type: integer, default: 2}}}}}
      named: {type: object, properties: {metadata: {type: object, properties: {
        creationTimestamp: {type: string, format: date-time}, name: {type: string}}}}}
      embedded: {type: object, x-kubernetes-embedded-resource: true, properties: {
        spec: {type: object, properties: {x: {type: string}}}}}
      kept: {type: object, x-kubernetes-preserve-unknown-fields: true}
  status: {type: object, properties: {phase: {type: string}, count: {type: integer, default: 3}}}
`

// hookPatches are JSON patches that the webhook at /patch/<name> makes.
var hookPatches = map[string]string{
	"empty":             `[]`,
	"test":              `[{"op":"test","path":"/metadata/name","value":"a"}]`,
	"same":              `[{"op":"replace","path":"/metadata/name","value":"a"}]`,
	"template":          `[{"op":"add","path":"/spec/template/metadata/creationTimestamp","value":null}]`,
	"named":             `[{"op":"add","path":"/spec/named/metadata/creationTimestamp","value":null}]`,
	"embedded":          `[{"op":"add","path":"/spec/embedded/metadata/creationTimestamp","value":null}]`,
	"embedded-nonsense": `[{"op":"add","path":"/spec/embedded/metadata/nonsense","value":1}]`,
	"kept":              `[{"op":"add","path":"/spec/kept/creationTimestamp","value":null}]`,
	"nonsense":          `[{"op":"add","path":"/spec/nonsense","value":{"a":[1,null]}}]`,
	"top":               `[{"op":"add","path":"/nonsense","value":1}]`,
	"metadata":          `[{"op":"add","path":"/metadata/nonsense","value":1}]`,
	"stamp":             `[{"op":"add","path":"/metadata/creationTimestamp","value":null}]`,
	"undefault":         `[{"op":"remove","path":"/spec/count"}]`,
	"null-default":      `[{"op":"add","path":"/spec/count","value":null}]`,
	"null":              `[{"op":"add","path":"/spec/title","value":null}]`,
	"nullable":          `[{"op":"add","path":"/spec/note","value":null}]`,
	"add-template": `[{"op":"add","path":"/spec/template","value":{"metadata":{"creationTimestamp":null},` +
		`"spec":{}}}]`,
	"status": `[{"op":"add","path":"/status","value":{"phase":"x","nonsense":1}}]`,
	"invalid": `[{"op":"add","path":"/spec/title","value":"much too long"},{"op":"add",` +
		`"path":"/spec/nonsense","value":1}]`,
	"labels": `[{"op":"add","path":"/metadata/labels","value":{}}]`,
}

const templated = "{metadata: {name: a}, spec: {title: t, template: {metadata: {}, spec: {x: y}}, " +
	"named: {metadata: {name: n}}, " +
	"embedded: {apiVersion: v1, kind: Pod, metadata: {name: e}, spec: {x: y}}, kept: {}}}"

// everyVerb writes a gizmo in every way, mostly without changing it.
var everyVerb = []string{
	"POST gizmo " + templated, "WATCH gizmo?resourceVersion=$rv1",
	"PUT gizmo/a $obj1 & {}", "MERGE gizmo/a {}", "MERGE gizmo/a {metadata: {name: a}}", "JSON gizmo/a []",
	"JSON gizmo/a [{op: replace, path: /spec/title, value: t}]",
	"APPLY gizmo/a?fieldManager=m&force=true " + templated, "APPLY gizmo/a?fieldManager=m " + templated,
	"APPLY gizmo/a?fieldManager=m " + templated,
	"MERGE gizmo/a/status {status: {phase: p}}", "MERGE gizmo/a/status {status: {phase: p}}",
	"APPLY gizmo/a/status?fieldManager=s {metadata: {name: a}, status: {phase: p}}",
	"APPLY gizmo/a/status?fieldManager=s {metadata: {name: a}, status: {phase: p}}",
	"MERGE gizmo/a {metadata: {labels: {a: b}}}", "MERGE gizmo/a?dryRun=All {spec: {title: u}}",
	"MERGE gizmo/a {spec: {title: u}}",
	"GET gizmo/a", "READ 1",
}

// lastFinalizer deletes a gizmo in two steps.
var lastFinalizer = []string{
	"POST gizmo " + templated, "MERGE gizmo/a {metadata: {finalizers: [x.example/one]}}", "DELETE gizmo/a",
	"MERGE gizmo/a {metadata: {finalizers: null}}", "GET gizmo/a",
}

// appliedAgain makes a gizmo by applies alone.
var appliedAgain = []string{
	"APPLY gizmo/a?fieldManager=m " + templated, "APPLY gizmo/a?fieldManager=m " + templated,
	"APPLY gizmo/a?fieldManager=m " + templated,
	"APPLY gizmo/a?fieldManager=m " + templated, "GET gizmo/a",
}

// templates is the definition of such gizmos.
var templates = strings.ReplaceAll(gizmos(withStatus), flow(gizmoSchema), flow(gizmoTemplates))

// writes are the requests that webhooks may change the object of.
const writes = `{operations: [CREATE, UPDATE], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*']}`

// answered is a row about gizmos while the webhook makes one of the patches.
func answered(name string, hooks []string, lines ...string) Row {
	return call(name, func(t *T) {
		t.define(templates)
		defer t.undefine()
		t.served(func(ca string) {
			t.configure(true, ca, hooks...)
			t.learn() // or the first object is kept waiting
			t.started = time.Now()
			// Each line runs when the real server's cache has seen the one before. Whether a write
			// that changes nothing but what is not shown is stored depends on that there.
			for _, line := range lines {
				t.Script(line, "SETTLE 40ms")
			}
		})
	})
}

func verbs(patch string) Row {
	return answered("every verb, "+patch, one("/patch/"+patch+" {rules: ["+writes+"]}"), everyVerb...)
}

const deployment = "{metadata: {name: a}, spec: {selector: {matchLabels: {app: x}}, " +
	"template: {metadata: {labels: {app: x}}, " +
	"spec: {containers: [{name: c, image: i}]}}}}"

// deploymentVerbs are the same for a built-in type.
var deploymentVerbs = []string{
	"POST deploy " + deployment, "PUT deploy/a $obj1 & {}", "MERGE deploy/a {}",
	"STRATEGIC deploy/a {spec: {template: {metadata: {labels: {app: x}}}}}",
	"APPLY deploy/a?fieldManager=m&force=true " + deployment, "APPLY deploy/a?fieldManager=m " + deployment,
	"APPLY deploy/a?fieldManager=m " + deployment,
	"MERGE deploy/a/status {status: {observedGeneration: 1}}",
	"MERGE deploy/a/status {status: {observedGeneration: 1}}", "GET deploy/a",
}

func deployed(patch string) Row {
	return hooked("a Deployment, "+patch, true, one("/patch/"+patch), deploymentVerbs...)
}

var rowsWebhookResults = area("webhooks and what schemas drop", slices.Concat([]Row{
	answered("every verb, no patch", one("/allow"), everyVerb...),
	answered("applies, no patch", one("/allow"), appliedAgain...).managed(),
	answered("applies, a null in a template", one("/patch/template"), appliedAgain...).managed(),
	answered("applies, a null in an embedded object", one("/patch/embedded"), appliedAgain...).managed(),
	answered("applies, an unknown field", one("/patch/nonsense"), appliedAgain...).managed(),
	answered("applies, a removed default", one("/patch/undefault"), appliedAgain...).managed(),
	answered("two webhooks",
		[]string{"/patch/nonsense {rules: [" + writes + "]}", "/patch/same {rules: [" + writes + "]}"}, everyVerb...),
	answered("asked again", []string{"/patch/same {reinvocationPolicy: IfNeeded, rules: [" + writes + "]}",
		"/patch/nonsense {rules: [" + writes + "]}"}, everyVerb...),
	answered("what those after them see",
		[]string{"/patch/nonsense", `/deny {matchConditions: [{name: seen, expression: "has(object.spec.nonsense)"}]}`},
		"POST gizmo "+templated),
	answered("an invalid object", one("/patch/invalid"), "POST gizmo "+templated),
	answered("the last finalizer goes", one("/patch/template {rules: ["+writes+"]}"), lastFinalizer...),
	answered("the last finalizer goes, unknown metadata", one("/patch/metadata {rules: ["+writes+"]}"),
		lastFinalizer...).
		differs("the last reply shows the unknown field; the model's metadata has no place for it"),
	answered("creations alone", one("/patch/template {rules: [{operations: [CREATE], apiGroups: ['*'], "+
		"apiVersions: ['*'], resources: ['*']}]}"), everyVerb...),
	answered("statuses alone", one("/patch/status {rules: [{operations: [UPDATE], apiGroups: ['*'], "+
		"apiVersions: ['*'], resources: ['*/status']}]}"), everyVerb...),
	deployed("empty"), hooked("a Deployment, no patch", true, one("/allow"), deploymentVerbs...),
	hooked("a Deployment, a null in its template", true, one("/patch/template"), deploymentVerbs...),
	deployed("nonsense"), deployed("metadata"), deployed("stamp"),
	call("validating webhooks see what will be stored", func(t *T) {
		t.define(templates)
		defer t.undefine()
		t.served(func(ca string) {
			t.configure(true, ca, "/patch/nonsense")
			t.configure(false, ca, `/deny {matchConditions: [{name: seen, expression: "has(object.spec.nonsense)"}]}`)
			t.Script("POST gizmo " + templated)
		})
	}),
}, []Row{
	verbs("empty"), verbs("test"), verbs("same"), verbs("template"), verbs("named"), verbs("embedded"),
	verbs("embedded-nonsense"), verbs("kept"),
	verbs("nonsense"), verbs("top"), verbs("metadata"), verbs("stamp"), verbs("undefault"), verbs("null-default"),
	verbs("null"), verbs("nullable"),
	verbs("add-template"), verbs("status"), verbs("labels"),
})...)
