package conformance

// Webhooks: when they are called, with what request, and what their replies change.

import "slices"

// hooked is a row that asks while webhooks of one kind are configured.
func hooked(name string, mutating bool, hooks []string, lines ...string) Row {
	return call(name, func(t *T) {
		t.served(func(ca string) {
			t.configure(mutating, ca, hooks...)
			t.Script(lines...)
		})
	})
}

const mapA = "POST cm {metadata: {name: a}, data: {k: v}}"

func one(hook string) []string { return []string{hook} }

var rowsAdmission = slices.Concat(area("webhooks that refuse",
	hooked("with a message", false, one("/deny"), mapA),
	hooked("without a word", false, one("/plain"), mapA),
	hooked("with a reason alone", false, one("/reason"), mapA),
	hooked("with a code of their own", false, one("/conflict"), mapA),
	hooked("mutating ones", true, one("/deny"), mapA),
	hooked("with a warning", false, one("/warn"), mapA),
	hooked("updates", false,
		one("/deny {rules: [{operations: [UPDATE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}"),
		mapA, "MERGE cm/a {data: {k: w}}", "PUT cm/a $obj1 & {data: {k: x}}", "GET cm/a", "DELETE cm/a"),
	hooked("deletions", false,
		one("/deny {rules: [{operations: [DELETE], apiGroups: [''], apiVersions: [v1], resources: [configmaps]}]}"),
		mapA, "DELETE cm/a", "DELETE cm", "GET cm/a"),
	hooked("a schema's refusal comes first, a conflict last", false,
		one("/deny {objectSelector: {matchLabels: {no: 'yes'}}}"),
		"POST cm {metadata: {name: A, labels: {no: 'yes'}}}", mapA,
		"POST cm {metadata: {name: a, labels: {no: 'yes'}}}",
		"MERGE cm/a {metadata: {resourceVersion: '1', labels: {no: 'yes'}}}"),
), area("webhooks that fail",
	hooked("nobody listens", false, one("/ {clientConfig: {url: 'https://"+closedAt+"/deny'}}"), mapA),
	hooked("nobody listens, and it does not matter", false,
		one("/ {clientConfig: {url: 'https://"+closedAt+"/deny'}, failurePolicy: Ignore}"), mapA),
	hooked("mutating, nobody listens", true, one("/ {clientConfig: {url: 'https://"+closedAt+"/deny'}}"), mapA),
	hooked("no answer in time", false, one("/slow {timeoutSeconds: 1}"), mapA),
	hooked("no answer in time, and it does not matter", false, one("/slow {timeoutSeconds: 1, failurePolicy: Ignore}"),
		mapA),
	hooked("an error", false, one("/error"), mapA),
	hooked("a path that is not there", false, one("/gone"), mapA),
	hooked("another UID", false, one("/uid"), mapA),
	hooked("no response", false, one("/absent"), mapA),
	hooked("a validating one that patches", false, one("/label/x"), mapA),
	hooked("a patch without its type", true, one("/half"), mapA),
	hooked("a patch that does not fit", true, one("/broken"), mapA),
	hooked("a patch for a deletion", true,
		one("/label/x {rules: [{operations: [DELETE], apiGroups: [''], apiVersions: [v1], "+
			"resources: [configmaps]}]}"), mapA, "DELETE cm/a"),
), area("webhooks and what they are told",
	hooked("of creations", false, one("/tell"), mapA, "POST widget {metadata: {name: a}}",
		"POST deploy {metadata: {name: a}, spec: "+
			"{selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, "+
			"spec: {containers: [{name: c, "+
			"image: i}]}}}}",
		"POST cm {metadata: {generateName: a-}}"),
	hooked("of creations, before anything is filled in", true, one("/tell"), mapA,
		"POST cm {metadata: {generateName: a-}}"),
	hooked("of updates", false,
		one("/tell {rules: [{operations: [UPDATE], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*']}]}"),
		mapA, "PUT cm/a $obj1 & {data: {k: w}}", "MERGE cm/a {metadata: {labels: {a: b}}}",
		"POST widget {metadata: {name: a}}",
		"MERGE widget/a {spec: {color: red}}", "APPLY cm/a?fieldManager=m {data: {k: y}}"),
	hooked("of statuses", false, one("/tell {rules: [{operations: [UPDATE], apiGroups: ['*'], apiVersions: ['*'], "+
		"resources: [widgets/status]}]}"),
		"POST widget {metadata: {name: a}}", "MERGE widget/a {spec: {color: red}}",
		"MERGE widget/a/status {status: {phase: x}}"),
	hooked("of deletions", false,
		one("/tell {rules: [{operations: [DELETE], apiGroups: ['*'], apiVersions: ['*'], resources: ['*']}]}"),
		mapA, "DELETE cm/a", "DELETE cm/a {propagationPolicy: Foreground}", "DELETE cm"),
	hooked("of the last finalizer", false,
		one("/tell {rules: [{operations: [DELETE], apiGroups: [''], apiVersions: ['*'], resources: ['*']}], "+
			"objectSelector: {matchLabels: {told: 'yes'}}}"),
		"POST cm {metadata: {name: a, finalizers: [example.org/f]}}", "DELETE cm/a",
		"MERGE cm/a {metadata: {labels: {told: 'yes'}}}",
		"MERGE cm/a {metadata: {finalizers: null}}"),
	hooked("of dry runs", false, one("/tell"), "POST cm?dryRun=All {metadata: {name: a}}"),
	hooked("of no dry run", false, one("/allow {sideEffects: NoneOnDryRun}"),
		"POST cm?dryRun=All {metadata: {name: a}}"),
	hooked("of namespaces", false, one("/tell"), "MERGE ns/$ns {metadata: {labels: {a: b}}}"),
), area("webhooks and whom they concern",
	hooked("operations and resources", false,
		one("/deny {rules: [{operations: [CREATE], apiGroups: [apps], apiVersions: ['*'], resources: ['*']}, "+
			"{operations: [UPDATE], apiGroups: [''], apiVersions: [v1], resources: [secrets]}]}"), mapA,
		"POST secret {metadata: {name: a}}",
		"MERGE secret/a {data: {k: dg==}}", "POST ctrlrev {metadata: {name: a}, revision: 1}"),
	hooked("scope", false, one("/deny {rules: [{operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], "+
		"resources: ['*'], scope: Cluster}]}"),
		mapA, "MERGE ns/$ns {metadata: {labels: {a: b}}}"),
	hooked("another namespace", false,
		one("/deny {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}}"), mapA),
	hooked("labels, old or new", false, one("/deny {objectSelector: {matchLabels: {a: b}}}"), mapA,
		"MERGE cm/a {metadata: {labels: {a: b}}}",
		"POST cm {metadata: {name: b, labels: {a: b}}}"),
	hooked("conditions", false,
		one("/deny {matchConditions: [{name: named, expression: \"object.metadata.name.startsWith('a')\"}, "+
			"{name: mine, expression: \"request.operation == 'CREATE' && object.data.k != 'w'\"}]}"), mapA,
		"POST cm {metadata: {name: b}, data: {k: v}}", "POST cm {metadata: {name: a}, data: {k: w}}"),
	hooked("conditions that cannot be judged", false,
		one("/allow {matchConditions: [{name: bad, expression: 'object.data.none == \"x\"'}]}"), mapA),
	hooked("conditions that cannot be judged, and it does not matter", false,
		one("/deny {failurePolicy: Ignore, matchConditions: [{name: bad, expression: 'object.data.none == \"x\"'}]}"),
		mapA),
), area("webhooks that change objects",
	hooked("an object", true, one("/replace"), mapA, "MERGE cm/a {metadata: {labels: {a: b}}, data: {k: w, l: x}}",
		"GET cm/a"),
	hooked("back to what it was", true, one("/replace"), mapA, "MERGE cm/a {data: {k: w}}", "GET cm/a"),
	hooked("and those after them", true, []string{"/label/x", "/tell"}, mapA),
	hooked("and those before them", true,
		[]string{"/tell {objectSelector: {matchLabels: {l: x}}, reinvocationPolicy: IfNeeded}", "/label/x"}, mapA),
	hooked("and those before them, once more", true,
		[]string{"/label/y {reinvocationPolicy: IfNeeded}", "/annotate/x", "/label/z"}, mapA, "GET cm/a"),
	hooked("into nonsense", true, one("/label/not,valid"), mapA),
	hooked("of a custom type", true, one("/label/x"), "POST widget {metadata: {name: a}, spec: {color: red}}",
		"GET widget/a"),
), area("webhooks are not asked",
	hooked("about their own configurations", false, one("/deny {namespaceSelector: {}, rules: [{operations: ['*'], "+
		"apiGroups: [admissionregistration.k8s.io], apiVersions: ['*'], resources: ['*']}]}"), mapA),
))
