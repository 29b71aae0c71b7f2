package conformance

// Binding: what a scheduler says of a pod and a node.

// bind is the request that binds pod a; more goes into its metadata.
func bind(node, more string) string {
	return "POST pod/a/binding {apiVersion: v1, kind: Binding, metadata: {name: a" + more +
		"}, target: {kind: Node, name: " + node + "}}"
}

const unboundPod = "POST pod {metadata: {name: a}, spec: " + podSpec + "}"

var rowsBinding = area("binding",
	row("sets node and condition", unboundPod, bind("n1", ""), "GET pod/a"),
	row("to a node that is not there", unboundPod, bind("nowhere", "")),
	row("twice is a conflict", unboundPod, bind("n1", ""), bind("n2", ""), "GET pod/a"),
	row("twice to the same node is a conflict", unboundPod, bind("n1", ""), bind("n1", "")),
	row("of a pod that was made bound is a conflict", boundPod, bind("n2", "")),
	row("of nothing is NotFound", bind("n1", "")),
	row("of a pod that is being deleted is a conflict",
		"POST pod {metadata: {name: a, finalizers: [x.example/y]}, spec: "+podSpec+"}", "DELETE pod/a", bind("n1", "")),
	row("with the right uid", unboundPod, bind("n1", ", uid: $uid1")),
	row("with another uid is a conflict", unboundPod, bind("n1", ", uid: 00000000-0000-0000-0000-000000000009"),
		"GET pod/a"),
	row("with the right version", unboundPod, bind("n1", ", resourceVersion: '$rv1'")),
	row("with an old version is a conflict", unboundPod, "MERGE pod/a {metadata: {labels: {x: y}}}",
		bind("n1", ", resourceVersion: '$rv1'")),
	row("of a pod behind a gate is a conflict",
		"POST pod {metadata: {name: a}, spec: {schedulingGates: [{name: x.example/g}], containers: [{name: c, "+
			"image: i}]}}",
		bind("n1", ""), "MERGE pod/a {spec: {schedulingGates: null}}", bind("n1", ""), "GET pod/a"),
	row("with annotations", unboundPod, bind("n1", ", annotations: {x.example/y: z}"), "GET pod/a"),
	row("with another name", unboundPod,
		"POST pod/a/binding {apiVersion: v1, kind: Binding, metadata: {name: b}, target: {kind: Node, name: n1}}"),
	row("without a node", unboundPod,
		"POST pod/a/binding {apiVersion: v1, kind: Binding, metadata: {name: a}, target: {kind: Node}}"),
	row("to something else", unboundPod,
		"POST pod/a/binding {apiVersion: v1, kind: Binding, metadata: {name: a}, target: {kind: Service, name: s}}"),
	row("as a dry run", unboundPod, "POST pod/a/binding?dryRun=All {apiVersion: v1, kind: Binding, "+
		"metadata: {name: a}, target: {kind: Node, name: n1}}", "GET pod/a"),
	row("replaces what the scheduler said before", unboundPod,
		"MERGE pod/a/status {status: {conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]}}",
		bind("n1", ""), "GET pod/a"),
)
