package conformance

// Metadata: what a name, a label, an annotation and an owner may look like, and how large anything
// may be.

import "net/http"

func meta(fields string) string { return "POST cm {metadata: {name: a, " + fields + "}}" }

func owner(fields string) string {
	return meta("ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: 00000000-0000-0000-0000-000000000001" +
		fields + "}]")
}

var rowsMetadata = append(append(append(area("names",
	row("upper case is Invalid", "POST cm {metadata: {name: A}}", "POST widget {metadata: {name: A}}"),
	row("underscores are Invalid", "POST cm {metadata: {name: a_b}}"),
	row("dots are fine for configmaps", "POST cm {metadata: {name: a.b}}"),
	row("dots are not fine for services and namespaces",
		"POST svc {metadata: {name: a.b}, spec: {ports: [{port: 80}]}}",
		"POST ns {metadata: {name: a.b}}"),
	row("a leading dash is Invalid", "POST cm {metadata: {name: -a}}"),
	row("253 letters are fine", "POST cm {metadata: {name: $big(253)}}"),
	row("254 letters are Invalid", "POST cm {metadata: {name: $big(254)}}",
		"POST widget {metadata: {name: $big(254)}}"),
	row("64 letters are Invalid for services", "POST svc {metadata: {name: $big(64)}, spec: {ports: [{port: 80}]}}"),
	row("roles may have colons and capitals", "POST role {metadata: {name: 'System:a', namespace: $ns}, rules: []}",
		"POST role {metadata: {name: 'a/b'}}", "POST role {metadata: {name: '..'}}"),
	row("slashes and percents are Invalid", "POST cm {metadata: {name: a/b}}", "POST cm {metadata: {name: a%b}}"),
	row("a digit may lead", "POST cm {metadata: {name: 1a}}",
		"POST svc {metadata: {name: 1a}, spec: {ports: [{port: 80}]}}"),
	row("names of deployments, jobs, pods and cron jobs", "POST deploy {metadata: {name: A}, spec: "+deploySpec+"}",
		"POST job {metadata: {name: A}, spec: "+jobSpec+"}", "POST pod {metadata: {name: A}, spec: "+podSpec+"}",
		"POST cronjob {metadata: {name: $big(53)}, spec: {schedule: '* * * * *', jobTemplate: {spec: "+jobSpec+"}}}"),
	row("names of the rest", "POST lease {metadata: {name: A}}", "POST secret {metadata: {name: A}}",
		"POST sa {metadata: {name: A}}",
		"POST ing {metadata: {name: A}"+minimal["ing"]+"}", "POST pdb {metadata: {name: A}"+minimal["pdb"]+"}",
		"POST sts {metadata: {name: A.b}"+minimal["sts"]+"}", "POST event {metadata: {name: A}"+minimal["event"]+"}"),
), area("labels and annotations",
	row("a label value with a space is Invalid", meta("labels: {k: 'a b'}"),
		"POST widget {metadata: {name: a, labels: {k: 'a b'}}}"),
	row("a label value of 63 letters is fine, of 64 Invalid", meta("labels: {k: $big(63)}"),
		meta("labels: {k: $big(64)}")),
	row("an empty label value is fine", meta("labels: {k: ''}")),
	row("a label key with two slashes is Invalid", meta("labels: {a/b/c: v}")),
	row("an empty label key is Invalid", meta("labels: {'': v}")),
	row("a label key with a bad prefix is Invalid", meta("labels: {A_b/c: v}")),
	row("a label key that is too long is Invalid", meta("labels: {$big(64): v}"), meta("labels: {$big(254)/a: v}")),
	row("a label that is a number is BadRequest", meta("labels: {k: 5}"),
		"POST widget {metadata: {name: a, labels: {k: 5}}}"),
	row("an annotation key in capitals is fine", meta("annotations: {X.Example/Key: v}")),
	row("an annotation key with a space is Invalid", meta("annotations: {'a b': v}"),
		"POST widget {metadata: {name: a, annotations: {'a b': v}}}"),
	row("annotations of 256 KiB are the most", meta("annotations: {k: $big(262143)}"),
		meta("annotations: {k: $big(262144)}"),
		"POST widget {metadata: {name: a, annotations: {k: $big(262144)}}}"),
	row("several faults are several causes", meta("labels: {k: 'a b', l: 'c d'}, annotations: {'a b': v}")),
	row("a patch cannot make them Invalid", oneMap, "MERGE cm/a {metadata: {labels: {k: 'a b'}}}",
		"MERGE cm/a {metadata: {annotations: {'a b': v}}}"),
	row("labels of a template are checked too",
		"POST deploy {metadata: {name: a}, spec: {selector: {matchLabels: {app: x}}, "+
			"template: {metadata: {labels: {app: x, k: 'a b'}}, spec: "+podSpec+"}}}"),
)...), area("owners",
	row("an owner", owner("")),
	row("a controller", owner(", controller: true, blockOwnerDeletion: true")),
	row("two controllers are Invalid",
		meta("ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u1, controller: true}, "+
			"{apiVersion: v1, kind: Pod, name: p, uid: u2, controller: true}]"),
		"POST widget {metadata: {name: a, ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u1, "+
			"controller: true}, "+
			"{apiVersion: v1, kind: Pod, name: p, uid: u2, controller: true}]}}"),
	row("an owner without a uid is Invalid", meta("ownerReferences: [{apiVersion: v1, kind: Pod, name: o}]")),
	row("an owner without a name is Invalid", meta("ownerReferences: [{apiVersion: v1, kind: Pod, uid: u}]")),
	row("an owner without a kind is Invalid", meta("ownerReferences: [{apiVersion: v1, name: o, uid: u}]")),
	row("an owner without a version is Invalid", meta("ownerReferences: [{kind: Pod, name: o, uid: u}]")),
	row("an owner with a bad version is Invalid",
		meta("ownerReferences: [{apiVersion: a/b/c, kind: Pod, name: o, uid: u}]")),
	row("an event cannot own", meta("ownerReferences: [{apiVersion: v1, kind: Event, name: o, uid: u}]")),
	row("the same owner twice warns", meta("ownerReferences: [{apiVersion: v1, kind: Pod, name: o, uid: u1}, "+
		"{apiVersion: v1, kind: Pod, name: o, uid: u1}]")),
	row("the same owner twice on a custom resource", "POST widget {metadata: {name: a, ownerReferences: "+
		"[{apiVersion: v1, kind: Pod, name: o, uid: u1}, {apiVersion: v1, kind: Pod, name: o, uid: u1}]}}"),
)...), area("sizes",
	row("a configmap of one MiB is the most", "POST cm {metadata: {name: a}, data: {k: $big(1048576)}}",
		"POST cm {metadata: {name: b}, data: {k: $big(1048577)}}"),
	row("binary data counts", "POST cm {metadata: {name: b}, binaryData: {k: eHh4}, data: {l: $big(1048574)}}"),
	row("a secret of one MiB is the most", "POST secret {metadata: {name: b}, stringData: {k: $big(1048577)}}"),
	row("a patch cannot grow beyond it", oneMap, "MERGE cm/a {data: {k: $big(1048577)}}"),
	row("a custom resource of two MiB is refused by the store",
		"POST gadget {metadata: {name: a}, spec: {k: $big(2000000)}}"),
	row("a request of four MiB is refused at the door", "POST cm {metadata: {name: a}, data: {k: $big(4000000)}}"),
	row("a patch of four MiB is refused at the door", oneMap, "MERGE cm/a {data: {k: $big(4000000)}}"),
	row("keys of configmaps", "POST cm {metadata: {name: a}, data: {'a b': v}}",
		"POST cm {metadata: {name: a}, data: {'': v}}",
		"POST cm {metadata: {name: a}, data: {..: v}}", "POST cm {metadata: {name: a}, data: {A_b.c-9: v}}"),
	row("a key in data and binaryData is Invalid",
		"POST cm {metadata: {name: a}, data: {k: v}, binaryData: {k: eA==}}"),
	row("binary data that is not base64 is BadRequest", "POST cm {metadata: {name: a}, binaryData: {k: '***'}}"),
	call("a JSON patch of too many operations", func(t *T) {
		t.Script(oneMap)
		p, _, _ := path("cm/a", t.Namespace)
		header := http.Header{"Content-Type": {patchTypes["JSON"]}}
		t.Do("10001 operations", http.MethodPatch, p, header, manyOperations())
	}),
)...)

// manyOperations is a JSON patch of more operations than the server will do.
func manyOperations() []byte {
	ops := []byte("[")
	for range 10001 {
		ops = append(ops, `{"op":"test","path":"/data/k","value":"v"},`...)
	}
	ops[len(ops)-1] = ']'
	return ops
}
