package conformance

// Server-side apply and the ownership of fields: which manager set a field, which may change it,
// and what happens to fields that no manager applies any longer. Ownership itself
// (metadata.managedFields) is compared in these rows, and dropped in all others.

import "slices"

const (
	applyMap    = "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: v}}"
	applyDeploy = "APPLY deploy/a?fieldManager=one {metadata: {name: a}, spec: " + deploySpec + "}"
	applyWidget = "APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {color: red, tags: [a, b], " +
		"ports: [{name: x, port: 1}]}}"
	createMap = "POST cm?fieldManager=maker {metadata: {name: a, labels: {x: y}}, data: {k: v, l: w}}"
)

// managed compares ownership too.
func managed(rows []Row) []Row {
	for i := range rows {
		rows[i].Managed = true
	}
	return rows
}

var rowsApply = slices.Concat(managed(area("apply",
	row("creates", applyMap, "GET cm/a"),
	row("creates a deployment with its defaults owned by nobody", applyDeploy),
	row("creates a custom object", applyWidget),
	row("creates a pod", "APPLY pod/a?fieldManager=one {metadata: {name: a}, spec: {containers: [{name: c, "+
		"image: i, ports: [{containerPort: 80}]}]}}"),
	row("creates a service", "APPLY svc/a?fieldManager=one {metadata: {name: a}, spec: {ports: [{port: 80}]}}"),
	row("creates a cluster-scoped custom object",
		"APPLY realm/$ns-a?fieldManager=one {metadata: {name: $ns-a}, spec: {a: [1, {b: c}]}}"),
	row("creates a secret from stringData", "APPLY secret/a?fieldManager=one {metadata: {name: a}, stringData: {k: v}}",
		"APPLY secret/a?fieldManager=one {metadata: {name: a}, stringData: {k: w}}"),
	row("again changes nothing", applyMap, applyMap, "GET cm/a"),
	row("again with everything defaulted changes nothing", applyDeploy, applyDeploy),
	row("again on a custom object changes nothing", applyWidget, applyWidget),
	row("makes no event when it changes nothing", applyMap, "WATCH cm?resourceVersion=$rv1", applyMap,
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: w}}", "READ 1"),
	row("changes a value", applyMap, "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: w}}"),
	row("removes what is no longer said",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, labels: {x: y}}, data: {k: v, l: w}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: v}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}}"),
	row("of nothing leaves no owner", applyMap, "APPLY cm/a?fieldManager=one {}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}}"),
	row("without a manager", "APPLY cm/a {metadata: {name: a}}"),
	row("with a manager of a strange name", "APPLY cm/a?fieldManager=%01x {metadata: {name: a}}",
		"APPLY cm/a?fieldManager=$big(129) {metadata: {name: a}}"),
	row("without a kind", "APPLY cm/a?fieldManager=one !{metadata: {name: a}}",
		"APPLY widget/a?fieldManager=one !{metadata: {name: a}}"),
	row("of another kind", "APPLY cm/a?fieldManager=one !{apiVersion: v1, kind: Secret, metadata: {name: a}}",
		"APPLY widget/a?fieldManager=one !{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"),
	row("of another version",
		"APPLY deploy/a?fieldManager=one !{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: a}}"),
	row("without a name", "APPLY cm/a?fieldManager=one {data: {k: v}}", applyMap,
		"APPLY cm/a?fieldManager=one {data: {k: v}}"),
	row("of another name", "APPLY cm/a?fieldManager=one {metadata: {name: b}}", applyMap,
		"APPLY cm/a?fieldManager=one {metadata: {name: b}}"),
	row("of another namespace", "APPLY cm/a?fieldManager=one {metadata: {name: a, namespace: b}}"),
	row("in a namespace that is not there", "APPLY cm@none/a?fieldManager=one {metadata: {name: a}}"),
	row("with a uid creates nothing",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, uid: 00000000-0000-0000-0000-000000000001}}"),
	row("with another uid", applyMap,
		"APPLY cm/a?fieldManager=one {metadata: {name: a, uid: 00000000-0000-0000-0000-000000000001}}"),
	row("with a version creates nothing", "APPLY cm/a?fieldManager=one {metadata: {name: a, resourceVersion: '1'}}"),
	row("with the current version", applyMap,
		"APPLY cm/a?fieldManager=one {metadata: {name: a, resourceVersion: '$rv1'}, data: {k: w}}"),
	row("with a stale version", applyMap, "MERGE cm/a?fieldManager=two {data: {l: w}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, resourceVersion: '$rv1'}, data: {k: w}}"),
	row("with managedFields", "APPLY cm/a?fieldManager=one {metadata: {name: a, managedFields: []}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, managedFields: [{}]}}"),
	row("that is not YAML", "APPLY cm/a?fieldManager=one !{nope", "APPLY cm/a?fieldManager=one !just text"),
	row("that is a list", "APPLY cm/a?fieldManager=one ![]"),
	row("that is empty", "APPLY cm/a?fieldManager=one !"),
	row("of an unknown field", "APPLY cm/a?fieldManager=one {metadata: {name: a}, nonsense: 1}",
		"APPLY deploy/a?fieldManager=one {metadata: {name: a}, spec: {nonsense: 1}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {nonsense: 1}}"),
	row("of a wrong type", "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: 7}}",
		"APPLY deploy/a?fieldManager=one {metadata: {name: a}, spec: {replicas: three}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {replicas: three}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: 7}"),
	row("of what is not valid", "APPLY deploy/a?fieldManager=one {metadata: {name: a}, spec: {replicas: -1}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {color: pink}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, labels: {x: 'not valid'}}}"),
	row("of a duplicate in a list by key",
		"APPLY pod/a?fieldManager=one {metadata: {name: a}, spec: {containers: [{name: c, image: i}, {name: c, "+
			"image: j}]}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {tags: [a, a]}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {ports: [{name: x}, {name: x}]}}"),
	row("of a list element without its key",
		"APPLY pod/a?fieldManager=one {metadata: {name: a}, spec: {containers: [{image: i}]}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {ports: [{port: 1}]}}"),
	row("of a repeated field", "APPLY cm/a?fieldManager=one !{\"apiVersion\": v1, \"kind\": ConfigMap, "+
		"\"metadata\": {\"name\": a}, \"data\": {\"k\": v, \"k\": w}}",
		"APPLY cm/b?fieldManager=one&fieldValidation=Strict !{\"apiVersion\": v1, \"kind\": ConfigMap, "+
			"\"metadata\": {\"name\": b}, \"data\": {\"k\": v, \"k\": w}}",
		"APPLY cm/c?fieldManager=one&fieldValidation=Ignore !{\"apiVersion\": v1, \"kind\": ConfigMap, "+
			"\"metadata\": {\"name\": c}, \"data\": {\"k\": v, \"k\": w}}"),
	row("as a dry run", "APPLY cm/a?fieldManager=one&dryRun=All {metadata: {name: a}, data: {k: v}}", "GET cm/a",
		applyMap,
		"APPLY cm/a?fieldManager=one&dryRun=All {metadata: {name: a}, data: {k: w}}", "GET cm/a"),
	row("of null values", "APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {note: null, color: red, "+
		"title: null}}", "APPLY cm/a?fieldManager=one {metadata: {name: a, labels: null}, data: null}"),
	row("of empty maps and lists", "APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {tags: [], "+
		"anything: {}}}", "APPLY cm/a?fieldManager=one {metadata: {name: a, labels: {}}, data: {}}"),
	row("shown as metadata", "APPLY+meta cm/a?fieldManager=one {metadata: {name: a, labels: {x: y}}}"),
	row("of a generated name", "APPLY cm/a?fieldManager=one {metadata: {generateName: a-}}"),
	row("to an object that is being deleted",
		"POST cm?fieldManager=maker {metadata: {name: a, finalizers: [x.example/one]}}", "DELETE cm/a",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: v}}"),
	row("takes the last finalizer off",
		"APPLY cm/a?fieldManager=one {metadata: {name: a, finalizers: [x.example/one]}}", "DELETE cm/a",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}}", "GET cm/a"),
)), managed(area("ownership",
	row("of a creation", createMap, "GET cm/a"),
	row("of a creation with a status",
		"POST deploy?fieldManager=maker {metadata: {name: a}, spec: "+deploySpec+", status: {replicas: 3}}",
		"POST widget?fieldManager=maker {metadata: {name: a}, spec: {color: red}, status: {phase: New}}"),
	row("of an update", createMap, "PUT cm/a?fieldManager=changer $obj1 & {data: {k: x, l: null, m: n}}"),
	row("of an update that changes nothing", createMap, "PUT cm/a?fieldManager=changer $obj1 & {}"),
	row("of a merge patch", createMap, "MERGE cm/a?fieldManager=changer {data: {k: x, l: null}}"),
	row("of a JSON patch", createMap, "JSON cm/a?fieldManager=changer [{op: add, path: /data/z, value: z}]"),
	row("of a strategic patch", createMap, "STRATEGIC cm/a?fieldManager=changer {data: {z: z}}"),
	row("of a patch to a custom object", applyWidget,
		"MERGE widget/a?fieldManager=changer {spec: {tags: [a, c], ports: [{name: x, port: 2}]}}"),
	row("of a status", applyDeploy, "MERGE deploy/a/status?fieldManager=ctrl {status: {replicas: 1, "+
		"conditions: [{type: Available, status: 'True'}]}}",
		"PUT deploy/a/status?fieldManager=ctrl $obj2 & {status: {replicas: 2}, spec: {replicas: 9}, "+
			"metadata: {labels: {x: y}}}"),
	row("of a status on a custom object", applyWidget,
		"MERGE widget/a/status?fieldManager=ctrl {metadata: {labels: {x: y}}, spec: {color: blue}, "+
			"status: {phase: New}}",
		"APPLY widget/a/status?fieldManager=other {metadata: {name: a, labels: {z: z}}, spec: {color: green}, "+
			"status: {replicas: 1}}"),
	row("of an applied status", applyDeploy,
		"APPLY deploy/a/status?fieldManager=ctrl {metadata: {name: a}, status: {replicas: 1, "+
			"conditions: [{type: Available, status: 'True'}]}}",
		"APPLY deploy/a/status?fieldManager=ctrl {metadata: {name: a}, status: {conditions: [{type: Progressing, "+
			"status: 'True'}]}}"),
	row("of a status that is not there",
		"APPLY deploy/a/status?fieldManager=ctrl {metadata: {name: a}, status: {replicas: 1}}",
		"APPLY cm/a/status?fieldManager=ctrl {metadata: {name: a}}"),
	row("of one manager in two places", applyDeploy,
		"APPLY deploy/a/status?fieldManager=one {metadata: {name: a}, status: {replicas: 1}}", applyDeploy),
	row("of status at the main path is nobody's",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {color: red}, status: {phase: New}}"),
	row("by creation and by apply", createMap, "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: v}}"),
	row("conflicts with a creation", createMap, "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: x}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: x, l: y}}"),
	row("is taken by force", createMap, "APPLY cm/a?fieldManager=one&force=true {metadata: {name: a}, data: {k: x}}"),
	row("is shared when values agree", applyMap, "APPLY cm/a?fieldManager=two {metadata: {name: a}, data: {k: v}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: w}}",
		"APPLY cm/a?fieldManager=two {metadata: {name: a}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: w}}"),
	row("that is shared outlives one of its owners", applyMap,
		"APPLY cm/a?fieldManager=two {metadata: {name: a}, data: {k: v}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}}", "APPLY cm/a?fieldManager=two {metadata: {name: a}}"),
	row("with an updater outlives the applier", applyMap, "MERGE cm/a?fieldManager=changer {data: {k: w}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}}"),
	row("conflicts between appliers", applyMap, "APPLY cm/a?fieldManager=two {metadata: {name: a}, data: {k: w}}",
		"APPLY cm/a?fieldManager=two&force=true {metadata: {name: a}, data: {k: w}}", applyMap),
	row("conflicts with two managers", "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: v}}",
		"APPLY cm/a?fieldManager=two {metadata: {name: a}, data: {l: v}}",
		"MERGE cm/a?fieldManager=three {data: {m: v}}",
		"APPLY cm/a?fieldManager=four {metadata: {name: a}, data: {k: x, l: x, m: x}}"),
	row("conflicts on a custom object", applyWidget,
		"APPLY widget/a?fieldManager=two {metadata: {name: a}, spec: {color: blue, tags: [b, c], ports: [{name: x, "+
			"port: 2}, {name: y, port: 3}]}}",
		"APPLY widget/a?fieldManager=two&force=true {metadata: {name: a}, spec: {color: blue, tags: [b, c], "+
			"ports: [{name: x, port: 2}, {name: y, port: 3}]}}"),
	row("conflicts with a subresource", applyWidget, "MERGE widget/a/scale?fieldManager=scaler {spec: {replicas: 7}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {color: red, replicas: 3}}"),
	row("of set elements", applyWidget, "APPLY widget/a?fieldManager=two {metadata: {name: a}, spec: {tags: [c, a]}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {tags: [b]}}"),
	row("of map elements", applyWidget,
		"APPLY widget/a?fieldManager=two {metadata: {name: a}, spec: {ports: [{name: y, port: 2}]}}",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {ports: []}}"),
	row("of containers and their environment", applyDeploy,
		"APPLY deploy/a?fieldManager=two {metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, "+
			"env: [{name: A, value: b}]}, {name: d, image: j}]}}}}",
		"APPLY deploy/a?fieldManager=two {metadata: {name: a}, spec: {template: {spec: {containers: [{name: d, "+
			"image: j}]}}}}"),
	row("of finalizers and owners", "APPLY cm/a?fieldManager=one {metadata: {name: a, finalizers: [x.example/one], "+
		"ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: 00000000-0000-0000-0000-000000000001}]}}",
		"APPLY cm/a?fieldManager=two {metadata: {name: a, finalizers: [x.example/two], "+
			"ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: 00000000-0000-0000-0000-000000000002}]}}",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}}"),
	row("of atomic lists and maps",
		"APPLY svc/a?fieldManager=one {metadata: {name: a}, spec: {selector: {a: b}, ports: [{port: 80}]}}",
		"APPLY svc/a?fieldManager=two {metadata: {name: a}, spec: {selector: {c: d}}}",
		"APPLY svc/a?fieldManager=two&force=true {metadata: {name: a}, spec: {selector: {c: d}}}"),
	row("in what has no schema",
		"APPLY gadget/a?fieldManager=one {metadata: {name: a}, spec: {a: 1, l: [1, 2], m: {x: y}}}",
		"APPLY gadget/a?fieldManager=two {metadata: {name: a}, spec: {b: 2, l: [1, 2], m: {z: z}}}",
		"APPLY gadget/a?fieldManager=two {metadata: {name: a}, spec: {l: [3]}}"),
	row("of a map that is kept whatever it holds",
		"APPLY widget/a?fieldManager=one {metadata: {name: a}, spec: {anything: {a: {b: c}}}}",
		"APPLY widget/a?fieldManager=two {metadata: {name: a}, spec: {anything: {a: {d: e}, f: [1]}}}"),
	row("of an empty map in metadata",
		"APPLY gadget/a?fieldManager=one {metadata: {name: a, labels: {}, finalizers: [x.example/one]}, spec: {a: 1}}",
		"MERGE gadget/a?fieldManager=two {metadata: {finalizers: [x.example/one]}}").
		differs("An apply to a custom object stores an empty map in its metadata as such, though no client sees it, "+
			"and the next write of any kind drops it, which is a new version. The model holds metadata typed."),
	row("of replicas by scaling", applyDeploy,
		"PUT deploy/a/scale?fieldManager=scaler {apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a}, "+
			"spec: {replicas: 4}}", "GET deploy/a",
		"APPLY deploy/a/scale?fieldManager=applier {apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a}, "+
			"spec: {replicas: 5}}", "APPLY deploy/a/scale?fieldManager=applier&force=true {apiVersion: "+
			"autoscaling/v1, kind: Scale, metadata: {name: a}, spec: {replicas: 5}}", "GET deploy/a"),
	row("of custom replicas by scaling", applyWidget, "MERGE widget/a/scale?fieldManager=scaler {spec: {replicas: 4}}",
		"GET widget/a",
		"APPLY widget/a/scale?fieldManager=applier&force=true {apiVersion: autoscaling/v1, kind: Scale, "+
			"metadata: {name: a}, spec: {replicas: 5}}", "GET widget/a"),
)), managed(area("managed fields",
	row("are cleared by an empty list", createMap, "MERGE cm/a?fieldManager=x {metadata: {managedFields: []}}",
		"MERGE cm/a?fieldManager=y {data: {z: z}}", "APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: v}}"),
	row("are cleared by an empty entry", createMap, "MERGE cm/a?fieldManager=x {metadata: {managedFields: [{}]}}",
		"PUT cm/a?fieldManager=y $obj2 & {data: {z: z}}"),
	row("that an update leaves out stay", createMap, "PUT cm/a?fieldManager=x {metadata: {name: a}, data: {k: v}}"),
	row("can be given to another", createMap,
		"JSON cm/a?fieldManager=x [{op: replace, path: /metadata/managedFields/0/manager, value: other}]",
		"APPLY cm/a?fieldManager=one {metadata: {name: a}, data: {k: x}}"),
	row("that make no sense are not taken", createMap,
		"MERGE cm/a?fieldManager=x {metadata: {managedFields: [{manager: y, operation: Nope, apiVersion: v1, "+
			"fieldsType: FieldsV1, fieldsV1: {}}]}}",
		"MERGE cm/a?fieldManager=x {metadata: {managedFields: [{manager: y, operation: Update, apiVersion: v1, "+
			"fieldsType: FieldsV9, fieldsV1: {}}]}}"),
	row("cannot be set through a status", applyWidget,
		"MERGE widget/a/status?fieldManager=x {metadata: {managedFields: []}, status: {phase: New}}"),
	row("at creation", "POST cm?fieldManager=x {metadata: {name: a, managedFields: []}, data: {k: v}}",
		"POST cm?fieldManager=x {metadata: {name: b, managedFields: [{manager: y, operation: Update, "+
			"apiVersion: v1, time: '2020-01-01T00:00:00Z', fieldsType: FieldsV1, "+
			"fieldsV1: {'f:data': {'f:k': {}}}}]}, data: {k: v}}"),
	row("of eleven updaters are ten", "POST cm?fieldManager=m0 {metadata: {name: a}, data: {k0: v}}",
		"MERGE cm/a?fieldManager=m1 {data: {k1: v}}", "MERGE cm/a?fieldManager=m2 {data: {k2: v}}",
		"MERGE cm/a?fieldManager=m3 {data: {k3: v}}", "MERGE cm/a?fieldManager=m4 {data: {k4: v}}",
		"MERGE cm/a?fieldManager=m5 {data: {k5: v}}", "MERGE cm/a?fieldManager=m6 {data: {k6: v}}",
		"MERGE cm/a?fieldManager=m7 {data: {k7: v}}", "MERGE cm/a?fieldManager=m8 {data: {k8: v}}",
		"MERGE cm/a?fieldManager=m9 {data: {k9: v}}", "MERGE cm/a?fieldManager=n0 {data: {l0: v}}",
		"MERGE cm/a?fieldManager=n1 {data: {l1: v}}"),
	call("name the program when no manager is given", func(t *T) {
		for _, agent := range []string{"tool/v1.2 (linux)", "", "odd\tname"} {
			p, _, _ := path("cm", t.Namespace)
			t.Do("POST as "+agent, "POST", p,
				map[string][]string{"User-Agent": {agent}, "Content-Type": {"application/json"}},
				[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a-"},"data":{"k":"v"}}`))
		}
	}),
	row("in a list and in a watch", applyMap, "GET cm", "WATCH cm", "READ 1"),
	row("as metadata", applyMap, "GET+meta cm/a", "MERGE+meta cm/a?fieldManager=x {metadata: {labels: {x: y}}}"),
	row("survive a deletion mark", "APPLY cm/a?fieldManager=one {metadata: {name: a, finalizers: [x.example/one]}}",
		"DELETE cm/a", "MERGE cm/a?fieldManager=x {metadata: {finalizers: null}}"),
	row("of a namespace's finalizing", "POST ns?fieldManager=x {metadata: {name: $ns-a}}",
		"PUT ns/$ns-a/finalize?fieldManager=y $obj1 & {spec: {finalizers: [kubernetes, x.example/one]}}"),
	row("of a kubectl apply become those of an apply by kubectl",
		"POST cm?fieldManager=kubectl-client-side-apply {metadata: {name: a, "+
			"annotations: {kubectl.kubernetes.io/last-applied-configuration: "+
			"'{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":\"$ns\","+
			"\"annotations\":{}},\"data\":{\"k\":\"v\",\"l\":\"w\"}}'}}, data: {k: v, l: w}}",
		"APPLY cm/a?fieldManager=kubectl {metadata: {name: a}, data: {k: x, l: y}}",
		"APPLY cm/a?fieldManager=other {metadata: {name: a}, data: {k: z}}"),
	row("of events in both groups", "POST event?fieldManager=x {metadata: {name: a}, "+
		"involvedObject: {namespace: $ns, name: o, kind: Pod}, reason: R, message: m, type: Normal}",
		"APPLY event/a?fieldManager=one {metadata: {name: a}, count: 2}"),
)))
