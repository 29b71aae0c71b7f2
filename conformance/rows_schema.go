package conformance

// What a definition's schema can say, and definitions that come, change and go while the server
// runs. The definitions are made by the rows themselves, in a group of the row's own, so that no
// other row sees them.

import (
	"context"
	"net/http"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const gizmoSchema = `
type: object
properties:
  spec:
    type: object
    x-kubernetes-validations:
    - {rule: "self.min <= self.max", message: min is above max}
    - {rule: "self.max >= oldSelf.max", message: max may not fall}
    - {rule: "!has(oldSelf.plain) || has(self.plain)", messageExpression: "'plain stays, it was ' + oldSelf.plain",
      reason: FieldValueForbidden, fieldPath: .plain}
    properties:
      min: {type: integer, default: 0}
      max: {type: integer, default: 10}
      phase: {type: string, enum: [A, B, C], x-kubernetes-validations: [
        {rule: "oldSelf != 'C' || self == 'C'", message: C is for good}]}
      fixed: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: it is fixed}]}
      grows: {type: integer, x-kubernetes-validations: [
        {rule: "!oldSelf.hasValue() || self > oldSelf.value()", optionalOldSelf: true, message: it grows}]}
      both: {type: string, nullable: true, default: d}
      nullable: {type: string, nullable: true}
      defaulted: {type: string, default: d}
      plain: {type: string, maxLength: 9}
      deep: {type: object, default: {a: {b: c}}, properties: {
        a: {type: object, properties: {b: {type: string, default: z}, e: {type: integer, default: 5}}}}}
      keep: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {
        known: {type: integer}, strict: {type: object, properties: {x: {type: string}}}}}
      embedded: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
      set: {type: array, x-kubernetes-list-type: set, maxItems: 5, items: {type: string, maxLength: 5}}
      pairs:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [a, b]
        items: {type: object, required: [a], properties: {
          a: {type: string}, b: {type: string, default: x}, v: {type: integer, maximum: 9}}}
      whole: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
      port: {x-kubernetes-int-or-string: true}
      when: {type: string, format: date-time}
      number: {type: number, multipleOf: 0.5}
      one: {type: object, oneOf: [{required: [x]}, {required: [y]}], properties: {x: {type: string}, y: {type: string}}}
  status: {type: object, properties: {phase: {type: string, default: New}, count: {type: integer}}}
`

// gizmos is the definition of gizmos in the row's own group; more is added to its first version,
// and versions are further versions.
func gizmos(more string, versions ...string) string {
	text := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, ` +
		`metadata: {name: gizmos.$ns.example}, spec: {group: $ns.example, ` +
		`scope: Namespaced, names: {plural: gizmos, singular: gizmo, kind: Gizmo, listKind: GizmoList}, versions: [` +
		strings.Join(append([]string{`{name: v1, served: true, storage: true, ` +
			`schema: {openAPIV3Schema: ` + flow(gizmoSchema) + `}` + more + `}`}, versions...), ", ") + `]}}`
	return text
}

// flow writes YAML on one line.
func flow(text string) string {
	raw, err := fromYAML(text)
	if err != nil {
		panic("conformance: a schema is not YAML: " + err.Error())
	}
	return string(raw)
}

// second is a version of gizmos that knows less than the first, and something of its own.
const second = `{name: v2, served: true, storage: false, subresources: {status: {}, ` +
	`scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.count}}, ` +
	`schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {max: {type: integer}, ` +
	`size: {type: integer}, extra: {type: string, default: e}}}, ` +
	`status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}`

// simple is a schema without rules.
const simple = `{type: object, properties: {spec: {type: object, properties: {plain: {type: string}}}, ` +
	`status: {type: object, properties: {count: {type: integer}}}}}`

// stricterRoot demands of what is there a field that it does not have.
var stricterRoot = []string{
	"POST gizmo {metadata: {name: a}}",
	"JSON crd/gizmos.$ns.example [{op: add, path: /spec/versions/0/schema/openAPIV3Schema/required, value: [spec]}]",
	"SETTLE 1500ms",
	"MERGE gizmo/a {metadata: {name: a}}", "MERGE gizmo/a {metadata: {labels: {a: b}}}",
	"MERGE gizmo/a/status {status: {count: 1}}",
	"MERGE gizmo/a {metadata: {finalizers: [x.example/one]}}", "MERGE gizmo/a {status: {count: 2}}", "GET gizmo/a",
	"MERGE gizmo/a {spec: {plain: ab}}",
}

const withStatus = `, subresources: {status: {}}`

// defined is a row whose definition is there and served when its lines begin, and deleted when they
// have ended.
func defined(name, definition string, lines ...string) Row {
	return Row{Name: name, Run: func(t *T) {
		t.define(definition)
		defer t.undefine()
		t.Script(lines...)
	}}
}

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// define makes a definition and waits until its objects are served, unobserved.
func (t *T) define(definition string) {
	var body any
	if err := yaml.Unmarshal([]byte(strings.ReplaceAll(definition, "$ns", t.Namespace)), &body); err != nil {
		panic(abort(err.Error()))
	}
	raw, err := fromYAML(strings.ReplaceAll(definition, "$ns", t.Namespace))
	if err != nil {
		panic(abort(err.Error()))
	}
	code, _, data, err := t.roundTrip(http.MethodPost, definitions,
		http.Header{"Content-Type": {"application/json"}}, raw)
	if err != nil || code != http.StatusCreated {
		panic(abort("the definition was not taken: " + string(data)))
	}
	until(t.Ctx, "the definition is served", func() bool {
		code, _, _, err := t.roundTrip(http.MethodGet,
			"/apis/"+t.Namespace+".example/v1/namespaces/"+t.Namespace+"/gizmos", nil, nil)
		return err == nil && code == http.StatusOK
	})
}

// undefine deletes the definition and does not wait, because no other row uses the group.
func (t *T) undefine() {
	name := definitions + "/gizmos." + t.Namespace + ".example"
	_, _, _, _ = t.roundTrip(http.MethodDelete, name, nil, nil)
}

func until(ctx context.Context, what string, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			panic(abort("not in time: " + what))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// gizmo is a row about one definition of gizmos with a status.
func gizmo(name string, lines ...string) Row { return defined(name, gizmos(withStatus), lines...) }

const oneGizmo = "POST gizmo {metadata: {name: a}, spec: {max: 5, phase: B, fixed: f, grows: 1, plain: p}}"

var rowsSchema = append(append(area("schemas",
	gizmo("defaults", "POST gizmo {metadata: {name: a}}", "POST gizmo {metadata: {name: b}, spec: {}}",
		"POST gizmo {metadata: {name: c}, spec: {deep: {}}, status: {}}",
		"POST gizmo {metadata: {name: d}, spec: {deep: {a: {}}, pairs: [{a: k}]}}"),
	gizmo("defaults and nulls", "POST gizmo {metadata: {name: a}, spec: {both: null, nullable: null, "+
		"defaulted: null, min: null}}", "POST gizmo {metadata: {name: b}, spec: {plain: null, deep: null}}",
		"MERGE gizmo/a {spec: {both: x, defaulted: null}}", "MERGE gizmo/a {spec: {both: null}}",
		"PUT gizmo/a $obj1 & {spec: null}"),
	gizmo("defaults of a status", "POST gizmo {metadata: {name: a}, spec: {}, status: {count: 1}}",
		"MERGE gizmo/a/status {status: {count: 2}}", "GET gizmo/a"),
	gizmo("a rule over two fields", "POST gizmo {metadata: {name: a}, spec: {min: 11}}",
		"POST gizmo {metadata: {name: a}, spec: {min: 3, max: 2}}", oneGizmo, "MERGE gizmo/a {spec: {min: 6}}"),
	gizmo("a transition", oneGizmo, "MERGE gizmo/a {spec: {max: 4}}", "MERGE gizmo/a {spec: {max: 6}}",
		"MERGE gizmo/a {spec: {phase: C}}", "MERGE gizmo/a {spec: {phase: A}}",
		"MERGE gizmo/a {spec: {fixed: g}}", "MERGE gizmo/a {spec: {fixed: null}}", "MERGE gizmo/a {spec: {fixed: g}}"),
	gizmo("a rule with an optional old value", oneGizmo, "MERGE gizmo/a {spec: {grows: 1, min: 1}}",
		"MERGE gizmo/a {spec: {grows: 0}}", "MERGE gizmo/a {spec: {grows: 2}}", "MERGE gizmo/a {spec: {grows: null}}"),
	gizmo("a rule that names its own reason, place and words", oneGizmo, "MERGE gizmo/a {spec: {plain: null}}"),
	gizmo("several broken rules", oneGizmo, "MERGE gizmo/a {spec: {max: 1, min: 2, fixed: x, plain: null}}"),
	gizmo("rules wait for the schema", "POST gizmo {metadata: {name: a}, spec: {min: 3, max: 2, phase: Z}}",
		"POST gizmo {metadata: {name: a}, spec: {min: 3, max: 2, plain: much too long}}"),
	gizmo("rules and a status update", oneGizmo, "MERGE gizmo/a/status {status: {phase: x}, spec: {max: 1}}"),
	gizmo("a set", "POST gizmo {metadata: {name: a}, spec: {set: [a, b, a]}}",
		"POST gizmo {metadata: {name: a}, spec: {set: [a, b, c, d, e, f]}}",
		"POST gizmo {metadata: {name: a}, spec: {set: [abcdef]}}",
		"POST gizmo {metadata: {name: a}, spec: {set: [a, b]}}",
		"JSON gizmo/a [{op: add, path: /spec/set/-, value: a}]"),
	gizmo("a map by two keys", "POST gizmo {metadata: {name: a}, spec: {pairs: [{a: k}, {a: k}]}}",
		"POST gizmo {metadata: {name: a}, spec: {pairs: [{a: k}, {a: k, b: x}]}}",
		"POST gizmo {metadata: {name: a}, spec: {pairs: [{a: k}, {a: k, b: z}]}}",
		"POST gizmo {metadata: {name: b}, spec: {pairs: [{b: k}]}}",
		"POST gizmo {metadata: {name: b}, spec: {pairs: [{a: k, v: 10}]}}"),
	gizmo("unknown fields here and there",
		"POST gizmo {metadata: {name: a}, spec: {nonsense: 1, keep: {any: [thing], known: 1, strict: {x: y, z: z}}, "+
			"deep: {a: {q: 1}}}, more: 2}",
		"POST gizmo?fieldValidation=Strict {metadata: {name: b}, spec: {nonsense: 1, keep: {any: thing, "+
			"strict: {z: z}}}}", "POST gizmo {metadata: {name: b}, spec: {keep: {known: x}}}"),
	gizmo("an embedded object", "POST gizmo {metadata: {name: a}, spec: {embedded: {apiVersion: v1, kind: Pod, "+
		"metadata: {name: p, labels: {a: b}, nonsense: 1}, spec: {x: y}}}}",
		"POST gizmo {metadata: {name: b}, spec: {embedded: {metadata: {name: p}}}}",
		"POST gizmo {metadata: {name: b}, spec: {embedded: {apiVersion: v1, kind: Pod, "+
			"metadata: {name: 'not valid', labels: {a: 'b c'}}}}}",
		"POST gizmo {metadata: {name: b}, spec: {embedded: {apiVersion: v1, kind: Pod, metadata: {labels: {a: 1}}}}}"),
	gizmo("numbers, times and either-or",
		"POST gizmo {metadata: {name: a}, spec: {port: 80, when: '2020-01-01T00:00:00Z', number: 1.5}}",
		"POST gizmo {metadata: {name: b}, spec: {port: http}}",
		"POST gizmo {metadata: {name: c}, spec: {port: 1.5}}",
		"POST gizmo {metadata: {name: c}, spec: {when: yesterday}}",
		"POST gizmo {metadata: {name: c}, spec: {number: 1.3}}",
		"POST gizmo {metadata: {name: c}, spec: {one: {}}}",
		"POST gizmo {metadata: {name: c}, spec: {one: {x: a, y: b}}}",
		"POST gizmo {metadata: {name: c}, spec: {one: {x: a}}}"),
	gizmo("what was wrong before may stay wrong", oneGizmo, "MERGE gizmo/a {spec: {set: [b], whole: {a: b}}}",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {whole: {c: d}}}",
		"APPLY gizmo/a?fieldManager=one&force=true {metadata: {name: a}, spec: {whole: {c: d}, pairs: [{a: k, "+
			"v: 1}]}}", "APPLY gizmo/a?fieldManager=two {metadata: {name: a}, spec: {pairs: [{a: k, b: y}]}}"),
	defined("several versions",
		gizmos(withStatus,
			`{name: v2, served: true, storage: false, deprecated: true, schema: {openAPIV3Schema: {type: object, `+
				`properties: {spec: {type: object, properties: {max: {type: integer}, extra: {type: string, `+
				`default: e}}}}}}}`,
			`{name: v3, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}`),
		oneGizmo, "GET gizmo2/a", "GET gizmo2", "MERGE gizmo2/a {spec: {max: 7}}", "GET gizmo/a",
		"POST gizmo2 {metadata: {name: b}, spec: {extra: x, max: 3}}", "GET gizmo/b", "MERGE gizmo/b {spec: {min: 1}}",
		"GET gizmo2/b",
		"GET /apis/$ns.example/v3/namespaces/$ns/gizmos", "GET /apis/$ns.example",
		"PUT gizmo2/b !{\"apiVersion\": \"$ns.example/v1\", \"kind\": \"Gizmo\", \"metadata\": {\"name\": \"b\"}}"),
	defined("several versions and who owns what",
		gizmos(withStatus,
			`{name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, `+
				`properties: {spec: {type: object, properties: {max: {type: integer}, extra: {type: string}}}}}}}`),
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {max: 5, plain: p}}",
		"APPLY gizmo2/a?fieldManager=two {metadata: {name: a}, spec: {max: 6}}",
		"APPLY gizmo2/a?fieldManager=one {metadata: {name: a}, spec: {max: 7}}", "GET gizmo/a"),
	defined("a rule that another version has let be broken", gizmos(withStatus, second),
		"POST gizmo2 {metadata: {name: a}, spec: {max: -1}}", "MERGE gizmo/a {metadata: {labels: {app: x}}}",
		"MERGE gizmo/a {spec: {min: 1}}"),
	defined("what another version has written is completed by the next write", gizmos(withStatus, second),
		"POST gizmo2 {metadata: {name: a}, spec: {max: 5}}", "MERGE gizmo/a {spec: {}}", "MERGE gizmo/a {spec: {}}"),
	defined("a deletion in another version forgets what that does not know", gizmos(withStatus, second),
		"POST gizmo {metadata: {name: a, finalizers: [x.example/one]}, spec: {max: 5, phase: B}}",
		"DELETE gizmo2/a", "GET gizmo/a", "MERGE gizmo2/a {metadata: {finalizers: null}}"),
	defined("a scale that the stored version does not know", gizmos(withStatus, second),
		"POST gizmo2 {metadata: {name: a}}", "GET gizmo2/a/scale", "MERGE gizmo2/a/scale {spec: {replicas: 7}}",
		"GET gizmo2/a"),
	defined("selectable fields", gizmos(`, selectableFields: [{jsonPath: .spec.phase}, {jsonPath: .spec.max}]`),
		oneGizmo, "POST gizmo {metadata: {name: b}, spec: {phase: A}}",
		"GET gizmo?fieldSelector=spec.phase%3DA", "GET gizmo?fieldSelector=spec.max%3D5",
		"GET gizmo?fieldSelector=spec.phase!%3DA", "GET gizmo?fieldSelector=spec.min%3D1"),
	defined("a scale without a status",
		gizmos(`, subresources: {scale: {specReplicasPath: .spec.max, statusReplicasPath: .status.count}}`), oneGizmo,
		"GET gizmo/a/scale",
		"MERGE gizmo/a/scale {spec: {replicas: 7}}", "MERGE gizmo/a/scale {spec: {replicas: 1}}",
		"POST gizmo {metadata: {name: b}, spec: {max: 1, min: 0}, status: {count: -1}}"),
	defined("columns",
		gizmos(`, additionalPrinterColumns: [{name: Max, type: integer, jsonPath: .spec.max}, {name: Set, `+
			`type: string, jsonPath: '.spec.set[*]'}, {name: Nothing, type: string, jsonPath: .spec.none, `+
			`priority: 1}, {name: When, type: date, jsonPath: .spec.when}]`),
		"POST gizmo {metadata: {name: a}, spec: {set: [a, b], when: nonsense}}",
		"POST gizmo {metadata: {name: a}, spec: {set: [a, b]}}", "GET+table gizmo",
		"GET+table gizmo/a?includeObject=None", "GET+table gizmo?includeObject=Object"),
), managed(area("schemas and ownership",
	gizmo("of nested defaults", "APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {deep: {a: {e: 6}}}}",
		"APPLY gizmo/a?fieldManager=two {metadata: {name: a}, spec: {deep: {a: {b: z}}}}",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}}"),
	gizmo("of a map by two keys, one defaulted",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {pairs: [{a: k, v: 1}]}}",
		"APPLY gizmo/a?fieldManager=two {metadata: {name: a}, spec: {pairs: [{a: k, b: x, v: 1}, {a: k, b: y}]}}"),
	gizmo("of an embedded object", "APPLY gizmo/a?fieldManager=one {metadata: {name: a}, "+
		"spec: {embedded: {apiVersion: v1, kind: Pod, metadata: {name: p, finalizers: [x.example/one]}, "+
		"spec: {l: [1]}}}}",
		"APPLY gizmo/a?fieldManager=two {metadata: {name: a}, spec: {embedded: {apiVersion: v1, kind: Pod, "+
			"metadata: {finalizers: [x.example/two]}, spec: {m: 1}}}}"),
	gizmo("of nulls and of either type",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {both: null, port: 80, number: 2}}",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {both: null, port: http, number: 2.0}}"),
	gizmo("of a broken rule", "APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {min: 11}}",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {fixed: f}}",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {fixed: g}}",
		"APPLY gizmo/a?fieldManager=one {metadata: {name: a}}"),
))...), area("definitions at run time",
	defined("an instance and its watch go with the definition", gizmos(withStatus), oneGizmo,
		"WATCH gizmo?resourceVersion=$rv1", "DELETE crd/gizmos.$ns.example", "READ 1", "SETTLE 1500ms", "GET gizmo/a",
		"GET /apis/$ns.example"),
	defined("an instance with a finalizer holds the definition", gizmos(withStatus),
		"POST gizmo {metadata: {name: a, finalizers: [x.example/one]}}", "DELETE crd/gizmos.$ns.example",
		"SETTLE 1500ms",
		"POST gizmo {metadata: {name: b}}", "GET gizmo/a", "MERGE gizmo/a {metadata: {finalizers: null}}"),
	Row{Name: "a watch shows how a definition comes", Run: func(t *T) {
		defer t.undefine()
		t.Script("POST cm {metadata: {name: a}}",
			"WATCH crd?fieldSelector=metadata.name%3Dgizmos.$ns.example&resourceVersion=$rv1",
			"POST crd "+gizmos(withStatus), "READ 3")
	}},
	defined("a watch shows how a definition goes", gizmos(withStatus), oneGizmo, "GET crd/gizmos.$ns.example",
		"WATCH crd?fieldSelector=metadata.name%3Dgizmos.$ns.example&resourceVersion=$rv2",
		"DELETE crd/gizmos.$ns.example", "READ 3"),
	defined("a watch shows how a definition waits for an instance", gizmos(withStatus),
		"POST gizmo {metadata: {name: a, finalizers: [x.example/one]}}", "GET crd/gizmos.$ns.example",
		"WATCH crd?fieldSelector=metadata.name%3Dgizmos.$ns.example&resourceVersion=$rv2",
		"DELETE crd/gizmos.$ns.example", "READ 2", "DELETE crd/gizmos.$ns.example", "GET crd/gizmos.$ns.example",
		"MERGE gizmo/a {metadata: {finalizers: null}}", "SETTLE 6s", "READ 1", "GET crd/gizmos.$ns.example"),
	defined("a definition without instances waits for another finalizer", gizmos(withStatus),
		"MERGE crd/gizmos.$ns.example {metadata: {finalizers: [x.example/one]}}",
		"WATCH crd?fieldSelector=metadata.name%3Dgizmos.$ns.example&resourceVersion=$rv1",
		"DELETE crd/gizmos.$ns.example", "READ 3", "POST gizmo {metadata: {name: a}}",
		"MERGE crd/gizmos.$ns.example {metadata: {finalizers: null}}", "READ 1"),
	defined("a changed schema holds at once", gizmos(withStatus), oneGizmo, "MERGE gizmo/a {spec: {nonsense: 1}}",
		"JSON crd/gizmos.$ns.example [{op: add, "+
			"path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/nonsense, "+
			"value: {type: integer}}]", "SETTLE 1500ms", "MERGE gizmo/a {spec: {nonsense: 2}}"),
	defined("a stricter schema lets be what is there", gizmos(withStatus),
		"POST gizmo {metadata: {name: a}, spec: {plain: abcdefgh, set: [a]}}",
		"JSON crd/gizmos.$ns.example [{op: replace, "+
			"path: /spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/plain/maxLength, value: 3}]",
		"SETTLE 1500ms",
		"MERGE gizmo/a {spec: {set: [b]}}", "MERGE gizmo/a {spec: {plain: abcdefg}}",
		"MERGE gizmo/a {spec: {plain: ab}}"),
	defined("a stricter root lets be what is there", gizmos(withStatus), stricterRoot...),
	defined("a stricter root without rules lets be what is there",
		strings.ReplaceAll(gizmos(withStatus), flow(gizmoSchema), simple), stricterRoot...),
	defined("a new version is served", gizmos(withStatus), oneGizmo, "GET gizmo2/a",
		"JSON crd/gizmos.$ns.example [{op: add, path: /spec/versions/-, value: {name: v2, served: true, "+
			"storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}]",
		"SETTLE 1500ms", "GET gizmo2/a"),
)...)
