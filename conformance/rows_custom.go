package conformance

// Custom resources: what a schema lets in, adds, drops and refuses.

func widget(spec string) string { return "POST widget {metadata: {name: a}, spec: " + spec + "}" }

var rowsCustom = area("custom resources",
	row("defaults are added where the parent is there", widget("{}"), "POST widget {metadata: {name: b}}"),
	row("defaults come back after removal", oneWidget, "MERGE widget/a {spec: {replicas: null}}"),
	row("unknown fields are dropped", widget("{color: red, nonsense: 1}"), "GET widget/a"),
	row("unknown fields are kept where said so", widget("{anything: {a: {b: [1, 2.5, x, null, true]}}}"),
		"GET widget/a",
		"POST gadget {metadata: {name: a}, top: 1, spec: {a: {b: [1]}}}"),
	row("a value outside the enumeration", widget("{color: pink}")),
	row("a number outside its bounds", widget("{replicas: -1}"), widget("{replicas: 101}")),
	row("a number that is not whole", widget("{replicas: 1.5}")),
	row("a number beyond 32 bits", widget("{replicas: 3000000000}")),
	row("a text too long and of the wrong shape", widget("{title: $big(21)}"), widget("{title: ABC}")),
	row("a wrong type", widget("{color: 5}"), widget("{tags: x}"), widget("[]")),
	row("several faults are several causes", widget("{color: pink, replicas: -1, title: ABC}")),
	row("null where it may be", widget("{note: null}"), "GET widget/a"),
	row("null where it may not be is dropped or defaulted", widget("{replicas: null}"),
		"POST widget {metadata: {name: b}, spec: {title: null}}"),
	row("a set with doubles", widget("{tags: [a, a]}")),
	row("a list map with doubles", widget("{ports: [{name: x, port: 1}, {name: x, port: 2}]}")),
	row("a list element without what it requires", widget("{ports: [{port: 1}]}")),
	row("an update is checked", oneWidget, "PUT widget/a $obj1 & {spec: {color: pink}}",
		"MERGE widget/a {spec: {tags: [b, b]}}"),
	row("labels are checked", "POST widget {metadata: {name: a, labels: {k: 'a b'}}, spec: {color: pink}}"),
	row("unknown metadata is dropped", "POST widget {metadata: {name: a, nonsense: 1}}"),
	row("metadata of a wrong type", "POST widget {metadata: {name: a, labels: {k: 1}}}",
		"POST widget {metadata: {name: a, finalizers: x}}",
		"POST widget {metadata: [a]}"),
	row("status at create is dropped, at update kept as it was", oneWidget,
		"MERGE widget/a/status {status: {phase: New}}",
		"PUT widget/a $obj2 & {status: {phase: Ready}, spec: {color: blue}}"),
	row("numbers keep their form", "POST gadget {metadata: {name: a}, spec: {i: 1, f: 1.5, g: 1e3, "+
		"big: 9007199254740993, neg: -0}}", "GET gadget/a"),
	row("a no-op after defaults", oneWidget,
		"PUT widget/a {metadata: {name: a, resourceVersion: '$rv1'}, spec: {color: red, tags: [a, b], "+
			"ports: [{name: x, port: 1}]}}"),
	row("it can be owned and labelled",
		"POST widget {metadata: {name: a, labels: {x: z}, annotations: {n: m}, ownerReferences: "+
			"[{apiVersion: v1, kind: Pod, name: o, uid: u, controller: true}]}}"),
	row("kind and version stay", oneWidget, "MERGE widget/a {apiVersion: other/v1}"),
	row("a table of it", oneWidget, "GET+table widget", "GET+table widget/a", "GET+table widget?includeObject=None"),
	row("cluster-scoped: no namespace in its path", "POST realm {metadata: {name: $ns-a, namespace: other}}",
		"GET /apis/"+crdGroup+"/v1/namespaces/$ns/realms"),
	call("its definition is there", func(t *T) {
		_, _, data, err := t.roundTrip("GET",
			"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets."+crdGroup, nil, nil)
		definition, _ := decode(data).(map[string]any)
		t.Note("spec", definition["spec"], err)
		status, _ := definition["status"].(map[string]any)
		t.Note("accepted names", status["acceptedNames"], nil)
		t.Note("stored versions", status["storedVersions"], nil)
	}),
	row("empty objects and lists survive", "POST gadget {metadata: {name: a}, spec: {a: {}, b: [], c: ''}}",
		"GET gadget/a"),
	row("case matters",
		`POST widget !{"apiVersion":"`+crdGroup+`/v1","kind":"Widget","metadata":{"name":"a"},"Spec":{"color":"red"}}`),
)
