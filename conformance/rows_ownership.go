package conformance

// Ownership where it is in doubt: what clients say of managedFields that cannot be, what has gone
// since, and what is too large.

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// twice is the same owner two times.
const twice = "ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u1}, {apiVersion: v1, kind: Pod, " +
	"name: o, uid: u1}]"

var rowsOwnership = slices.Concat(managed(area("ownership in doubt",
	row("a manager of an impossible name", applyMap,
		"JSON cm/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/manager, value: $big(129)}]",
		"JSON cm/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/manager, value: \"a\\tb\"}]",
		"JSON cm/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/subresource, value: $big(300)}]",
		"GET cm/a"),
	row("a manager of an impossible name on a custom object", applyWidget,
		"JSON widget/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/manager, value: $big(129)}]",
		"JSON widget/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/manager, value: \"a\\tb\"}]"),
	row("a version that is not there", applyWidget,
		"JSON widget/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/apiVersion, "+
			"value: "+crdGroup+"/v9}]",
		"JSON widget/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/apiVersion, value: other/v1}, "+
			"{op: replace, path: /spec/color, value: blue}]",
		"POST widget?fieldManager=x {metadata: {name: b, managedFields: [{manager: z, operation: Update, "+
			"apiVersion: "+crdGroup+"/v9, fieldsType: FieldsV1, "+
			"fieldsV1: {'f:spec': {'f:color': {}}}}]}, spec: {color: red}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {title: x}}"),
	row("a version that is not there of a built-in type", applyMap,
		"JSON cm/a?fieldManager=x [{op: add, path: /metadata/managedFields/-, value: "+
			"{manager: y, operation: Update, apiVersion: other/v1, fieldsType: FieldsV1, "+
			"fieldsV1: {'f:data': {'f:k': {}}}}}]",
		"JSON cm/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/apiVersion, value: v9}]"),
	Row{Name: "a version that has gone", Run: func(t *T) {
		t.define(gizmos(withStatus,
			`{name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, `+
				`x-kubernetes-preserve-unknown-fields: true}}}`))
		defer t.undefine()
		t.Script("POST gizmo2?fieldManager=two {metadata: {name: a}, spec: {plain: p}}",
			"APPLY gizmo2/a?fieldManager=one {metadata: {name: a}, spec: {max: 7}}")
		// Unobserved: the real server's controllers own parts of a definition's status.
		_, _, _, _ = t.roundTrip(http.MethodPatch, definitions+"/gizmos."+t.Namespace+".example",
			http.Header{"Content-Type": {patchTypes["JSON"]}},
			[]byte(`[{"op":"remove","path":"/spec/versions/1"}]`))
		t.Script("SETTLE 1500ms", "MERGE gizmo/a?fieldManager=x {spec: {min: 1}}",
			"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {max: 8}}",
			"MERGE gizmo/a?fieldManager=x {metadata: {managedFields: [{}]}}", "APPLY gizmo/a?fieldManager=one "+
				"{metadata: {name: a}, spec: {max: 8}}")
	}},
	row("an empty list, which clears nothing on a custom object", applyWidget,
		"MERGE widget/a?fieldManager=x {metadata: {managedFields: []}}",
		"JSON widget/a?fieldManager=x [{op: replace, path: /metadata/managedFields, value: []}]",
		"MERGE widget/a?fieldManager=x {metadata: {managedFields: [{}]}}",
		"MERGE widget/a?fieldManager=x {spec: {color: blue}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {title: x}}"),
	row("a pod's binding, which owns nothing",
		"APPLY pod/a?fieldManager=one {metadata: {name: a, labels: {x: y}}, spec: "+podSpec+"}",
		"MERGE pod/a/status?fieldManager=s {status: {nominatedNodeName: n2}}", "POST pod/a/binding?fieldManager=two "+
			"{apiVersion: v1, kind: Binding, "+
			"metadata: {name: a, labels: {x: z, q: r}}, target: {kind: Node, name: n1}}", "GET pod/a"),
	row("a creation by update, of what the system sets",
		"PUT lease/a?fieldManager=one {metadata: {name: a, deletionTimestamp: '2020-01-01T00:00:00Z', "+
			"deletionGracePeriodSeconds: 5, generation: 7}, spec: {holderIdentity: h}}",
		"APPLY lease/a?fieldManager=two {metadata: {name: a}, spec: {leaseDurationSeconds: 9}}"),
	row("the same owner twice", applyMap, "PUT cm/a?fieldManager=x $obj1 & {metadata: {"+twice+"}}",
		"MERGE cm/a?fieldManager=y {metadata: {"+twice+"}}",
		"STRATEGIC cm/a?fieldManager=y {metadata: {"+twice+"}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, "+twice+"}}",
		"MERGE cm/a?fieldManager=z {metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u1}, "+
			"{apiVersion: v1, kind: Pod, name: p, uid: u1}]}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: o, "+
			"uid: u2}]}}"),
	hooked("a hook that spoils it", true, one("/spoil"),
		"APPLY cm/a?fieldManager=z {metadata: {name: a}, data: {l: x}}", "MERGE cm/a?fieldManager=y {data: {k: w}}"),
	hooked("a hook and the same owner twice", false,
		one("/deny {rules: [{operations: [UPDATE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}"),
		mapA, "MERGE cm/a {metadata: {"+twice+"}}", "PUT cm/a $obj1 & {metadata: {"+twice+"}}"),
	hooked("a hook that changes, and the same owner twice", true, one("/deny"),
		"POST cm {metadata: {name: a, "+twice+"}}"),
	call("more than can be stored with it", func(t *T) {
		var keys []string
		for i := range 8000 {
			keys = append(keys, fmt.Sprintf(`"k%05d%s":1`, i, strings.Repeat("x", 94)))
		}
		p := "/apis/" + crdGroup + "/v1/namespaces/" + t.Namespace + "/gadgets"
		ask := func(method, name, patch, spec string) {
			at, header := p, http.Header{}
			if patch != "" {
				at += "/" + name + "?fieldManager=x"
				header.Set("Content-Type", patchTypes[patch])
			}
			code, _, data, err := t.roundTrip(method, at, header,
				[]byte(`{"apiVersion":"`+crdGroup+`/v1","kind":"Gadget","metadata":{"name":"`+name+`"},`+
					`"spec":{`+spec+`}}`))
			o, _ := decode(data).(map[string]any)
			meta, _ := o["metadata"].(map[string]any)
			entries, _ := meta["managedFields"].([]any)
			t.Note(method+" "+patch+" "+name, []any{code, len(entries) > 0 && len(spec) > 0, o["message"]}, err)
		}
		ask(http.MethodPost, "a", "", strings.Join(keys, ","))
		ask(http.MethodPatch, "a", "MERGE", "")
		ask(http.MethodPost, "b", "", "")
		ask(http.MethodPatch, "b", "MERGE", strings.Join(keys, ","))
		ask(http.MethodPatch, "c", "APPLY", strings.Join(keys, ","))
	}),
	row("an apply that is no document, to what is not there", "APPLY deploy/a/status?fieldManager=one !a: b: c",
		"APPLY widget/a/scale?fieldManager=one !a: b: c",
		"APPLY deploy/a/status?fieldManager=one !just", "MERGE deploy/a/scale !{nope", applyDeploy,
		"MERGE deploy/a/scale !{nope", "JSON deploy/a/scale !{nope"),
	row("an apply in JSON that is no YAML",
		"APPLY cm/a?fieldManager=one !{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\"},"+
			"\"data\":{\"k\":\"\\ud83d\\ude00\"}}",
		"APPLY cm/b?fieldManager=one !{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"},"+
			"\"data\":{\"k\":\"a\\/b\"}}"),
	row("a scale by a patch of a type that there is not", applyWidget,
		"STRATEGIC widget/a/scale {spec: {replicas: 2}}"),
)))
