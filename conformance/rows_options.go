package conformance

// Options that go with a write: dry runs, and how strictly the body's fields are read.

const unknownField = `!{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"},"nonsense":1}`
const doubledField = `!{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}`
const unknownSpec = `{metadata: {name: a}, spec: {color: red, nonsense: 1, ports: [{name: x, other: 2}]}}`
const unknownDeploy = "{metadata: {name: a}, spec: {nonsense: 1, selector: {matchLabels: {app: x}}, template: " +
	"{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: i, imagePullPolice: x}]}}}}"

var rowsOptions = append(area("dry run",
	row("create", "POST cm?dryRun=All {metadata: {name: a}}", "GET cm/a"),
	row("create with generateName", "POST cm?dryRun=All {metadata: {generateName: a-}}", "GET cm"),
	row("create of what exists", oneMap, "POST cm?dryRun=All {metadata: {name: a}}"),
	row("create of what is Invalid", "POST cm?dryRun=All {metadata: {name: A}}"),
	row("update", oneMap, "PUT cm/a?dryRun=All $obj1 & {data: {k: w}}", "GET cm/a"),
	row("update with an old version", oneMap, "MERGE cm/a {data: {k: w}}", "PUT cm/a?dryRun=All $obj1 & {data: {k: x}}"),
	row("update that changes nothing", oneMap, "PUT cm/a?dryRun=All $obj1"),
	row("patch", oneMap, "MERGE cm/a?dryRun=All {data: {k: w}}", "GET cm/a"),
	row("create on update", "PUT lease/a?dryRun=All {metadata: {name: a}}", "GET lease/a"),
	row("custom resources", "POST widget?dryRun=All {metadata: {name: a}}", "GET widget/a", oneWidget,
		"MERGE widget/a?dryRun=All {spec: {color: blue}}", "DELETE widget/a?dryRun=All", "GET widget/a"),
	row("services get no address", "POST svc?dryRun=All {metadata: {name: a}, spec: {ports: [{port: 80}]}}", "GET svc/a"),
	row("an unknown value is Invalid", "POST cm?dryRun=Some {metadata: {name: a}}", oneMap, "MERGE cm/a?dryRun=Some {data: {k: w}}",
		"PUT cm/a?dryRun=Some $obj2", "DELETE cm/a?dryRun=Some"),
	row("twice", "POST cm?dryRun=All&dryRun=All {metadata: {name: a}}"),
	row("of the last finalizer's removal", held, "DELETE cm/a", "PUT cm/a?dryRun=All $obj2 & {metadata: {finalizers: null}}", "GET cm/a"),
), area("field validation",
	row("the default warns of unknown fields", "POST cm "+unknownField),
	row("warning of unknown fields", "POST cm?fieldValidation=Warn "+unknownField),
	row("ignoring unknown fields", "POST cm?fieldValidation=Ignore "+unknownField),
	row("strict: unknown fields are BadRequest", "POST cm?fieldValidation=Strict "+unknownField),
	row("strict: doubled fields are BadRequest", "POST cm?fieldValidation=Strict "+doubledField),
	row("warning of doubled fields", "POST cm?fieldValidation=Warn "+doubledField),
	row("unknown fields deep inside", "POST deploy?fieldValidation=Strict "+unknownDeploy, "POST deploy?fieldValidation=Warn "+unknownDeploy),
	row("on update", oneMap, "PUT cm/a?fieldValidation=Strict "+unknownField, "PUT cm/a?fieldValidation=Warn "+unknownField),
	row("on merge patch", oneMap, "MERGE cm/a?fieldValidation=Strict {nonsense: 1}", "MERGE cm/a?fieldValidation=Warn {nonsense: 1}",
		"MERGE cm/a {nonsense: 2}"),
	row("on JSON patch", oneMap, "JSON cm/a?fieldValidation=Strict [{op: add, path: /nonsense, value: 1}]",
		"JSON cm/a [{op: add, path: /nonsense, value: 1}]"),
	row("on strategic merge patch", oneDeploy, "STRATEGIC deploy/a?fieldValidation=Strict {spec: {nonsense: 1}}",
		"STRATEGIC deploy/a {spec: {nonsense: 1}}"),
	row("unknown fields of a patch operation", oneMap, "JSON cm/a?fieldValidation=Strict [{op: add, path: /data/x, value: y, extra: 1}]",
		"JSON cm/a [{op: add, path: /data/y, value: y, extra: 1}]"),
	row("doubled fields of a patch", oneMap, `MERGE cm/a?fieldValidation=Strict !{"data":{"k":"1","k":"2"}}`,
		`MERGE cm/a !{"data":{"k":"1","k":"2"}}`),
	row("an unknown value is Invalid", "POST cm?fieldValidation=Loose {metadata: {name: a}}", oneMap,
		"MERGE cm/a?fieldValidation=Loose {data: {k: w}}"),
	row("custom resources, warning", "POST widget "+unknownSpec),
	row("custom resources, ignoring", "POST widget?fieldValidation=Ignore "+unknownSpec),
	row("custom resources, strict", "POST widget?fieldValidation=Strict "+unknownSpec),
	row("custom resources, doubled fields", `POST widget?fieldValidation=Strict !{"apiVersion":"`+crdGroup+
		`/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"color":"red","color":"blue"}}`,
		`POST widget !{"apiVersion":"`+crdGroup+`/v1","kind":"Widget","metadata":{"name":"b"},"spec":{"color":"red","color":"blue"}}`),
	row("custom resources, unknown metadata", "POST widget?fieldValidation=Strict {metadata: {name: a, nonsense: 1}}",
		"POST widget {metadata: {name: a, nonsense: 1}}"),
	row("custom resources on update and patch", oneWidget, "PUT widget/a?fieldValidation=Strict $obj1 & {spec: {nonsense: 1}}",
		"MERGE widget/a?fieldValidation=Strict {spec: {nonsense: 1}}", "MERGE widget/a {spec: {nonsense: 1}}"),
	row("fields where anything is kept", "POST widget?fieldValidation=Strict {metadata: {name: a}, spec: {anything: {nonsense: 1}}}",
		"POST gadget?fieldValidation=Strict {metadata: {name: a}, nonsense: 1}"),
	row("many unknown fields", "POST cm {metadata: {name: a}, b: 1, c: 1, d: 1, e: 1}"),
	row("wrong case is unknown", `POST cm?fieldValidation=Strict !{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"Data":{"k":"v"}}`),
)...)
