package conformance

// What the namespace controller and the garbage collector ask of a server: the models of both rely
// on these answers.

const (
	emptied = "POST ns {metadata: {name: $ns-a}}"
	owned   = "POST cm {metadata: {name: b, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, " +
		"uid: $uid1, blockOwnerDeletion: true}]}}"
	remains = "{status: {conditions: [{type: NamespaceContentRemaining, status: 'True', " +
		"reason: SomeResourcesRemain, message: m}]}}"
	boundToo = "POST pod@$ns-a {metadata: {name: a}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}"
)

var rowsNamespace = append(area("emptying a namespace",
	row("conditions go into its status", emptied, "DELETE ns/$ns-a", "PUT ns/$ns-a/status $obj2 & "+remains,
		"GET ns/$ns-a"),
	row("conditions with an old version are a conflict", emptied, "DELETE ns/$ns-a",
		"PUT ns/$ns-a/status $obj1 & "+remains),
	row("the phase cannot be set back", emptied, "DELETE ns/$ns-a",
		"PUT ns/$ns-a/status $obj2 & {status: {phase: Active}}"),
	row("finalize of another of the same name is a conflict", emptied, "DELETE ns/$ns-a",
		"PUT ns/$ns-a/finalize $obj2 & {metadata: {uid: 00000000-0000-0000-0000-000000000009}, "+
			"spec: {finalizers: null}}"),
	row("finalize after a change of the status is a conflict", emptied, "DELETE ns/$ns-a",
		"PUT ns/$ns-a/status $obj2 & "+remains,
		"PUT ns/$ns-a/finalize $obj2 & {spec: {finalizers: null}}",
		"PUT ns/$ns-a/finalize $obj3 & {spec: {finalizers: null}}"),
	row("finalize leaves what others hold", "POST ns {metadata: {name: $ns-a}, spec: {finalizers: [x.example/y]}}",
		"DELETE ns/$ns-a",
		"PUT ns/$ns-a/finalize $obj2 & {spec: {finalizers: [x.example/y]}}", "GET ns/$ns-a"),
	row("a collection, in the background, and once more", emptied, "POST cm@$ns-a {metadata: {name: a}}",
		"POST cm@$ns-a {metadata: {name: b, finalizers: [x.example/y]}}", "DELETE ns/$ns-a",
		"DELETE cm@$ns-a {propagationPolicy: Background}",
		"GET cm@$ns-a", "DELETE cm@$ns-a {propagationPolicy: Background}", "GET cm@$ns-a"),
	row("pods keep their grace", emptied, boundToo, "DELETE ns/$ns-a",
		"DELETE pod@$ns-a {propagationPolicy: Background}",
		"DELETE pod@$ns-a {propagationPolicy: Background}", "GET pod@$ns-a"),
	row("its name comes again with another uid", emptied, "DELETE ns/$ns-a",
		"PUT ns/$ns-a/finalize $obj2 & {spec: {finalizers: null}}",
		emptied, "GET ns/$ns-a", "DELETE ns/$ns-a {preconditions: {uid: $uid1}}"),
), area("collecting garbage",
	row("references are taken off", oneMap, owned,
		"MERGE cm/b {metadata: {resourceVersion: '$rv2', ownerReferences: null}}", "GET cm/b"),
	row("references are not taken off an older version", oneMap, owned, "MERGE cm/b {data: {k: v}}",
		"MERGE cm/b {metadata: {resourceVersion: '$rv2', ownerReferences: null}}"),
	row("a reference stops blocking", oneMap, owned,
		"MERGE cm/b {metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: $uid1, "+
			"blockOwnerDeletion: false}]}}"),
	row("deletion in the background, of this version", oneMap,
		"DELETE cm/a {propagationPolicy: Background, preconditions: {uid: $uid1, resourceVersion: '$rv1'}}"),
	row("deletion in the background, of an older version", oneMap, "MERGE cm/a {data: {k: v}}",
		"DELETE cm/a {propagationPolicy: Background, preconditions: {uid: $uid1, resourceVersion: '$rv1'}}"),
	row("an orphaning owner is released", oneMap, "DELETE cm/a {propagationPolicy: Orphan}",
		"MERGE cm/a {metadata: {resourceVersion: '$rv2', finalizers: []}}", "GET cm/a"),
	row("a waiting owner is released, another finalizer holds it", held, "DELETE cm/a {propagationPolicy: Foreground}",
		"MERGE cm/a {metadata: {resourceVersion: '$rv2', finalizers: [x.example/one]}}", "GET cm/a"),
	row("deletion in the foreground of what is being deleted", held, "DELETE cm/a",
		"DELETE cm/a {propagationPolicy: Foreground}",
		"DELETE cm/a {propagationPolicy: Orphan}", "GET cm/a"),
	row("what asks to be orphaned, deleted so", "POST cm {metadata: {name: a, finalizers: [orphan]}}",
		"DELETE cm/a {propagationPolicy: Orphan}", "GET cm/a"),
	row("an event about an owner elsewhere",
		`POST event {metadata: {name: a.1}, involvedObject: {kind: ConfigMap, apiVersion: v1, namespace: $ns, `+
			`name: a}, `+
			`reason: OwnerRefInvalidNamespace, message: m, type: Warning, count: 1, source: {component: c}, `+
			`reportingComponent: c}`, "GET event/a.1"),
)...)
