package conformance

// Creating: what the server fills in, what it ignores, what it makes up and what it refuses.

var rowsCreate = area("create",
	row("a created object has uid, version and time", "POST cm {metadata: {name: a}, data: {k: v}}", "GET cm/a"),
	row("what the client says of uid and time is ignored",
		"POST cm {metadata: {name: a, uid: 00000000-0000-0000-0000-000000000001, "+
			"creationTimestamp: '2020-01-01T00:00:00Z', "+
			"deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5, generation: 7, selfLink: /x}}"),
	row("a create with a version is an error", "POST cm {metadata: {name: a, resourceVersion: '5'}}"),
	row("a create with version zero is let through", "POST cm {metadata: {name: a, resourceVersion: '0'}}"),
	row("a second create of a name is a conflict of the AlreadyExists kind",
		"POST cm {metadata: {name: a}}", "POST cm {metadata: {name: a}}"),
	row("a second create of a custom resource is AlreadyExists",
		"POST widget {metadata: {name: a}}", "POST widget {metadata: {name: a}}"),
	row("a name is required", "POST cm {data: {k: v}}"),
	row("a name is required of custom resources", "POST widget {spec: {}}"),
	row("generateName makes a name", "POST cm {metadata: {generateName: a-}}"),
	row("generateName twice makes two names",
		"POST cm {metadata: {generateName: a-}}", "POST cm {metadata: {generateName: a-}}"),
	row("a name wins over generateName", "POST cm {metadata: {name: b, generateName: a-}}"),
	row("a long generateName is cut", "POST cm {metadata: {generateName: $big(70)}}", "GET cm/$name1"),
	row("a bad generateName is Invalid", "POST cm {metadata: {generateName: A_}}"),
	row("the namespace of the path is filled in", "POST cm {metadata: {name: a}}"),
	row("a namespace that is not the path's is BadRequest", "POST cm {metadata: {name: a, namespace: other}}"),
	row("a namespace on a cluster-scoped object is dropped", "POST cr {metadata: {name: $ns, namespace: other}}"),
	row("a namespaced create without a namespace",
		"POST cm@* {metadata: {name: a}}", "POST cm@* {metadata: {name: a, namespace: $ns}}"),
	row("a create in a namespace that is not there is NotFound", "POST cm@absent {metadata: {name: a}}"),
	row("a custom resource in a namespace that is not there is NotFound", "POST widget@absent {metadata: {name: a}}"),
	row("another kind in the body is BadRequest",
		"POST cm {apiVersion: v1, kind: Secret, metadata: {name: a}}"),
	row("another group in the body is BadRequest",
		"POST deploy {apiVersion: batch/v1, kind: Deployment, metadata: {name: a}}"),
	row("another kind in the body of a custom resource is Invalid",
		"POST widget {apiVersion: "+crdGroup+"/v1, kind: Gadget, metadata: {name: a}}"),
	row("another version in the body of a custom resource is BadRequest",
		"POST widget {apiVersion: "+crdGroup+"/v2, kind: Widget, metadata: {name: a}}"),
	row("a body without kind is taken by its path", `POST cm !{"metadata":{"name":"a"}}`),
	row("a custom resource without kind is refused", `POST widget !{"metadata":{"name":"a"}}`),
	row("an empty body is BadRequest", "POST cm !"),
	row("a body that is not JSON is BadRequest", "POST cm !{not json"),
	row("a body of the wrong type is BadRequest",
		`POST cm !{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":7}`),
	row("a wrong type deep inside is BadRequest",
		`POST deploy !{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},`+
			`"spec":{"replicas":"three"}}`),
	row("a create at an object's path is not allowed", "POST cm/a {metadata: {name: a}}"),
	row("status is dropped from a built-in that has the subresource",
		"POST deploy {metadata: {name: a}, spec: "+deploySpec+", status: {replicas: 7, observedGeneration: 3}}"),
	row("status is dropped from a custom resource that has the subresource",
		"POST widget {metadata: {name: a}, status: {replicas: 7}}"),
	row("status is kept on a custom resource that has no such subresource",
		"POST gadget {metadata: {name: a}, status: {replicas: 7}}"),
	row("owners need not exist", "POST cm {metadata: {name: a, ownerReferences: "+
		"[{apiVersion: v1, kind: ConfigMap, name: gone, uid: 00000000-0000-0000-0000-000000000002}]}}"),
	row("finalizers may be there from the start",
		"POST cm {metadata: {name: a, finalizers: [x.example/one, x.example/two]}}"),
	row("a cluster-scoped custom resource", "POST realm {metadata: {name: $ns-a}, spec: {x: 1}}", "GET realm/$ns-a"),
	row("metadata that is null", `POST cm !{"apiVersion":"v1","kind":"ConfigMap","metadata":null}`),
	row("null maps and lists are dropped",
		`POST cm !{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":null,"finalizers":null},`+
			`"data":null}`),
	row("empty maps are dropped from built-ins",
		"POST cm {metadata: {name: a, labels: {}, annotations: {}}, data: {}}"),
	row("empty maps are kept in custom resources", "POST gadget {metadata: {name: a, labels: {}}, spec: {}, list: []}"),
	row("generation begins at one where the type has it",
		"POST deploy {metadata: {name: a}, spec: "+deploySpec+"}", "POST widget {metadata: {name: a}}",
		"POST gadget {metadata: {name: a}}", "POST cm {metadata: {name: a}}"),
	row("duplicate keys in the body",
		`POST cm !{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}`),
	row("a body in YAML is taken when it says so", "POST cm {metadata: {name: a}}", "GET cm/a"),
	row("case matters in field names", `POST cm !{"apiVersion":"v1","kind":"ConfigMap","Metadata":{"name":"a"}}`),
)

const (
	podSpec    = "{containers: [{name: c, image: i}]}"
	template   = "{metadata: {labels: {app: x}}, spec: " + podSpec + "}"
	deploySpec = "{selector: {matchLabels: {app: x}}, template: " + template + "}"
	jobSpec    = "{template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}"
)
