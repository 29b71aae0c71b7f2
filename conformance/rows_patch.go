package conformance

// Patching: three ways to say what changes, and many ways to say it wrongly.

const (
	onePod = "POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, env: [{name: A, " +
		"value: '1'}, {name: B, value: '2'}]}, {name: d, image: j}]}}"
	oneDeploy = "POST deploy {metadata: {name: a}, spec: " + deploySpec + "}"
	oneWidget = "POST widget {metadata: {name: a}, spec: {color: red, tags: [a, b], ports: [{name: x, port: 1}]}}"
)

var rowsPatch = append(append(append(area("merge patch",
	row("sets, changes and removes", oneMap, "MERGE cm/a {data: {k: w, l: x}}", "MERGE cm/a {data: {k: null}}",
		"MERGE cm/a {data: null}"),
	row("removing what is not there", oneMap, "MERGE cm/a {data: {zzz: null}}"),
	row("replaces lists", oneWidget, "MERGE widget/a {spec: {tags: [c]}}"),
	row("drops nulls within lists, where there was no list before",
		"POST gadget {metadata: {name: a}, spec: {o: {a: 1}}}",
		"MERGE gadget/a {spec: {l: [1, {q: null}], m: {x: null}}}",
		"MERGE gadget/a {spec: {l: [{q: null}, null], o: [{q: null}]}}"),
	row("with a stale version is a conflict", oneMap, "MERGE cm/a {data: {k: w}}",
		"MERGE cm/a {metadata: {resourceVersion: '$rv1'}, data: {k: x}}"),
	row("with the current version", oneMap, "MERGE cm/a {metadata: {resourceVersion: '$rv1'}, data: {k: x}}"),
	row("with an empty version", oneMap, "MERGE cm/a {metadata: {resourceVersion: ''}, data: {k: x}}",
		"MERGE cm/a {metadata: {resourceVersion: null}, data: {k: y}}"),
	row("with an empty version on a custom resource", oneWidget,
		"MERGE widget/a {metadata: {resourceVersion: null}, spec: {color: blue}}"),
	row("with a stale version on a custom resource", oneWidget, "MERGE widget/a {spec: {color: green}}",
		"MERGE widget/a {metadata: {resourceVersion: '$rv1'}, spec: {color: blue}}"),
	row("with another uid is Invalid", oneMap, "MERGE cm/a {metadata: {uid: 00000000-0000-0000-0000-000000000009}}"),
	row("with another uid on a custom resource is Invalid", oneWidget,
		"MERGE widget/a {metadata: {uid: 00000000-0000-0000-0000-000000000009}, spec: {color: blue}}",
		"MERGE widget/a {metadata: {uid: $uid1}, spec: {color: blue}}"),
	row("with another name is BadRequest", oneMap, "MERGE cm/a {metadata: {name: b}}"),
	row("with another namespace is refused", oneMap, "MERGE cm/a {metadata: {namespace: b}}"),
	row("with another kind is refused", oneMap, "MERGE cm/a {kind: Secret}").
		differs("A patch that changes a built-in object's kind is refused with the same status, "+
			"but not in the decoder's words."),
	row("with another kind on a custom resource is refused", oneWidget, "MERGE widget/a {kind: Gadget}"),
	row("of nothing is NotFound", "MERGE cm/a {data: {k: v}}", "MERGE widget/a {spec: {}}", "MERGE lease/a {spec: {}}"),
	row("that is empty changes nothing", oneMap, "MERGE cm/a {}"),
	row("that is a list", oneMap, "MERGE cm/a []"),
	row("that is a text", oneMap, "MERGE cm/a !\"x\""),
	row("that is not JSON is BadRequest", oneMap, "MERGE cm/a !{nope"),
	row("that is null", oneMap, "MERGE cm/a !null"),
	row("that makes a wrong type", oneMap, "MERGE cm/a {data: 7}", oneDeploy,
		"MERGE deploy/a {spec: {replicas: three}}"),
	row("that makes the object Invalid", oneDeploy, "MERGE deploy/a {spec: {replicas: -1}}"),
	row("that breaks a schema is Invalid", oneWidget, "MERGE widget/a {spec: {color: pink}}"),
	row("of status at the main path is dropped", oneDeploy, "MERGE deploy/a {status: {replicas: 3}}", oneWidget,
		"MERGE widget/a {status: {phase: New}}"),
	row("of a finalizer list", oneMap, "MERGE cm/a {metadata: {finalizers: [x.example/one]}}",
		"MERGE cm/a {metadata: {finalizers: [x.example/one, x.example/two]}}",
		"MERGE cm/a {metadata: {finalizers: []}}"),
	row("to default again", oneDeploy, "MERGE deploy/a {spec: {replicas: null, strategy: null}}"),
), area("JSON patch",
	row("add, replace and remove", oneMap, "JSON cm/a [{op: add, path: /data/l, value: w}]",
		"JSON cm/a [{op: replace, path: /data/k, value: x}]", "JSON cm/a [{op: remove, path: /data/l}]"),
	row("move and copy", oneMap, "JSON cm/a [{op: copy, from: /data/k, path: /data/c}]",
		"JSON cm/a [{op: move, from: /data/k, path: /data/m}]"),
	row("a test that holds", oneMap,
		"JSON cm/a [{op: test, path: /data/k, value: v}, {op: replace, path: /data/k, value: w}]"),
	row("a test that fails is Invalid", oneMap,
		"JSON cm/a [{op: test, path: /data/k, value: nope}, {op: replace, path: /data/k, value: w}]"),
	row("a test of the version", oneMap,
		"JSON cm/a [{op: test, path: /metadata/resourceVersion, value: '$rv1'}, {op: add, path: /data/z, value: z}]",
		"JSON cm/a [{op: test, path: /metadata/resourceVersion, value: '$rv1'}, {op: add, path: /data/z, value: y}]"),
	row("removing what is not there is Invalid", oneMap, "JSON cm/a [{op: remove, path: /data/none}]"),
	row("replacing what is not there adds it", oneMap, "JSON cm/a [{op: replace, path: /data/none, value: x}]"),
	row("adding below what is not there is Invalid", oneMap,
		"JSON cm/a [{op: add, path: /metadata/annotations/x, value: y}]"),
	row("appending to a list", oneWidget, "JSON widget/a [{op: add, path: /spec/tags/-, value: c}]",
		"JSON widget/a [{op: add, path: /spec/tags/0, value: d}]", "JSON widget/a [{op: remove, path: /spec/tags/9}]"),
	row("removing a finalizer by place", "POST cm {metadata: {name: a, finalizers: [x.example/one, x.example/two]}}",
		"JSON cm/a [{op: remove, path: /metadata/finalizers/0}]"),
	row("an unknown operation", oneMap, "JSON cm/a [{op: explode, path: /data/k}]"),
	row("an object instead of a list is BadRequest", oneMap, "JSON cm/a {op: add, path: /data/k, value: v}"),
	row("an empty list changes nothing", oneMap, "JSON cm/a []"),
	row("of nothing is NotFound", "JSON cm/a [{op: add, path: /data, value: {}}]"),
	row("escaped paths", "POST cm {metadata: {name: a, labels: {x.example/one: v}}}",
		"JSON cm/a [{op: replace, path: /metadata/labels/x.example~1one, value: w}]"),
	row("with a stale version is a conflict", oneMap, "MERGE cm/a {data: {k: w}}",
		"JSON cm/a [{op: replace, path: /metadata/resourceVersion, value: '$rv1'}, {op: add, path: /data/z, "+
			"value: z}]"),
	row("replacing the whole object", oneMap,
		"JSON cm/a [{op: replace, path: '', value: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}]"),
	row("a value that is missing", oneMap, "JSON cm/a [{op: add, path: /data/k}]"),
	row("making the object Invalid", oneDeploy, "JSON deploy/a [{op: replace, path: /spec/replicas, value: -1}]"),
)...), area("strategic merge patch",
	row("merges lists by key", onePod, "STRATEGIC pod/a {spec: {containers: [{name: c, image: k}]}}"),
	row("deletes by key", oneDeploy,
		"STRATEGIC deploy/a {spec: {template: {spec: {containers: [{name: z, image: z}]}}}}",
		"STRATEGIC deploy/a {spec: {template: {spec: {containers: [{name: z, $patch: delete}]}}}}"),
	row("replaces by directive", oneDeploy,
		"STRATEGIC deploy/a {spec: {template: {spec: {containers: [{$patch: replace}, {name: y, image: y}]}}}}"),
	row("replaces a map by directive", oneMap, "STRATEGIC cm/a {data: {$patch: replace, z: z}}"),
	row("null removes", oneMap, "STRATEGIC cm/a {data: {k: null}}", "STRATEGIC cm/a {metadata: {labels: null}}"),
	row("merges finalizers as a set", "POST cm {metadata: {name: a, finalizers: [x.example/one]}}",
		"STRATEGIC cm/a {metadata: {finalizers: [x.example/two]}}",
		"STRATEGIC cm/a {metadata: {$deleteFromPrimitiveList/finalizers: [x.example/one]}}"),
	row("merges owners by uid", "POST cm {metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: Pod, "+
		"name: o, uid: 00000000-0000-0000-0000-000000000001}]}}",
		"STRATEGIC cm/a {metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: p, "+
			"uid: 00000000-0000-0000-0000-000000000002}]}}",
		"STRATEGIC cm/a {metadata: {ownerReferences: [{$patch: delete, uid: 00000000-0000-0000-0000-000000000001}]}}"),
	row("orders by directive", oneDeploy,
		"STRATEGIC deploy/a {spec: {template: {spec: {$setElementOrder/containers: [{name: z}, {name: c}], "+
			"containers: [{name: z, image: z}]}}}}"),
	row("retains keys", oneDeploy, "STRATEGIC deploy/a {spec: {strategy: {$retainKeys: [type], type: Recreate}}}"),
	row("a recreate strategy without retaining keys is Invalid", oneDeploy,
		"STRATEGIC deploy/a {spec: {strategy: {type: Recreate}}}"),
	row("env merges by name", oneDeploy,
		"STRATEGIC deploy/a {spec: {template: {spec: {containers: [{name: c, env: [{name: A, value: '1'}]}]}}}}",
		"STRATEGIC deploy/a {spec: {template: {spec: {containers: [{name: c, env: [{name: B, value: '2'}]}]}}}}"),
	row("service ports merge by port", "POST svc {metadata: {name: a}, spec: {ports: [{name: x, port: 80}]}}",
		"STRATEGIC svc/a {spec: {ports: [{name: y, port: 81}]}}"),
	row("with a stale version is a conflict", oneMap, "MERGE cm/a {data: {k: w}}",
		"STRATEGIC cm/a {metadata: {resourceVersion: '$rv1'}, data: {k: x}}"),
	row("is refused for custom resources", oneWidget, "STRATEGIC widget/a {spec: {color: blue}}"),
	row("an unknown directive", oneMap, "STRATEGIC cm/a {data: {$patch: explode}}"),
	row("a list element without its key", onePod, "STRATEGIC pod/a {spec: {containers: [{image: k}]}}"),
	row("of nothing is NotFound", "STRATEGIC cm/a {data: {k: v}}"),
	row("that is not JSON is BadRequest", oneMap, "STRATEGIC cm/a !{nope"),
	row("that is empty changes nothing", oneMap, "STRATEGIC cm/a {}"),
	row("unknown fields are dropped", oneDeploy, "STRATEGIC deploy/a {spec: {nonsense: 1}}"),
	row("a wrong type is Invalid", oneDeploy, "STRATEGIC deploy/a {spec: {replicas: three}}"),
	row("status conditions merge by type", oneDeploy,
		"STRATEGIC deploy/a/status {status: {conditions: [{type: Available, status: 'True'}]}}",
		"STRATEGIC deploy/a/status {status: {conditions: [{type: Progressing, status: 'True'}]}}"),
)...), area("patch types",
	call("an unknown content type is 415", func(t *T) {
		t.Script(oneMap)
		for _, ct := range []string{"application/json", "text/plain", ""} {
			patchAs(t, ct, "cm/a", `{"data":{"k":"w"}}`)
		}
	}),
	call("a content type with a charset", func(t *T) {
		t.Script(oneMap)
		patchAs(t, "application/merge-patch+json; charset=utf-8", "cm/a", `{"data":{"k":"w"}}`)
	}),
	row("a patch at a collection is not allowed", "MERGE cm {data: {k: v}}"),
	row("force is for apply only", oneMap, "MERGE cm/a?force=true {data: {k: w}}"),
	row("server-side apply",
		"APPLY cm/a?fieldManager=me {apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}", "GET cm/a"),
	row("an empty body", oneMap, "MERGE cm/a !", "JSON cm/a !", "STRATEGIC cm/a !"),
	row("an unknown field manager is no matter", oneMap, "MERGE cm/a?fieldManager=me {data: {k: w}}"),
	row("a field manager that is too long is Invalid", oneMap, "MERGE cm/a?fieldManager=$big(129) {data: {k: w}}"),
)...)

// patchAs patches with a content type of the row's choice.
func patchAs(t *T, contentType, target, body string) {
	p, _, _ := path(target, t.Namespace)
	t.Do("PATCH as "+contentType, "PATCH", p, map[string][]string{"Content-Type": {contentType}}, []byte(body))
}
