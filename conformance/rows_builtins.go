package conformance

// Built-in kinds: the defaults that come back on create, what is refused, and what may never change
// again. Operators see defaults as a diff against what they wrote, and meet validation as a 422
// that no retry can fix.

import (
	"fmt"
	"slices"
)

const oneAutoscaling = "Autoscalers are served as autoscaling/v2 only; autoscaling/v1 would need the conversion " +
	"between the two."

var namespacedKinds = []string{
	"cm", "secret", "svc", "sa", "pod", "pvc", "ep", "event", "quota", "limit", "rc", "podtpl", "deploy", "sts", "ds",
	"rs", "ctrlrev",
	"job", "cronjob", "role", "rb", "lease", "slice", "ing", "netpol", "pdb", "hpa", "ev1",
}

var clusterKinds = []string{"ns", "node", "pv", "cr", "crb", "ingcls", "sc", "csidrv", "pc", "vwc", "mwc"}

var rowsBuiltins = slices.Concat(
	area("built-in defaults", each("of %s", namespacedKinds, func(k string) []string {
		return []string{"POST " + k + " {metadata: {name: a}" + minimal[k] + "}", "GET " + k + "/a", "GET " + k}
	})...),
	area("built-in defaults", each("of %s", clusterKinds, func(k string) []string {
		return []string{"POST " + k + " {metadata: {name: $ns-a}" + minimal[k] + "}", "GET " + k + "/$ns-a"}
	})...),
	area("built-in lives", each("of %s: change, no change, delete", namespacedKinds, func(k string) []string {
		return []string{
			"POST " + k + " {metadata: {name: a}" + minimal[k] + "}", "MERGE " + k + "/a {metadata: {labels: {x: z}}}",
			"MERGE " + k + "/a {metadata: {labels: {x: z}}}", "PUT " + k + "/a $obj2", "PUT " + k + "/a $obj1",
			"DELETE " + k + "/a",
		}
	})...),
	area("built-in lives", each("of %s: held by a finalizer", namespacedKinds, func(k string) []string {
		return []string{
			"POST " + k + " {metadata: {name: a, finalizers: [x.example/y]}" + minimal[k] + "}", "DELETE " + k + "/a",
			"MERGE " + k + "/a {metadata: {finalizers: null}}", "GET " + k + "/a",
		}
	})...),
	area("built-in lives", each("of %s: an empty one", namespacedKinds, func(k string) []string {
		return []string{"POST " + k + " {metadata: {name: a}}"}
	})...),
	area("built-in validation", rowsBuiltinValidation...),
	area("secrets and configmaps", rowsSecrets...),
	area("services", rowsServices...),
	area("jobs", rowsJobs...),
)

// steps are the same step with each of these in it.
func steps(of []string, format string) (out []string) {
	for _, x := range of {
		out = append(out, fmt.Sprintf(format, x))
	}
	return out
}

// unsorted is a controller revision whose data does not name its fields in their order.
func unsorted(revision int) string {
	return fmt.Sprintf(`!{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"a"},"data":{"y":1,`+
		`"x":{"b":1,"a":2}},"revision":%d}`, revision)
}

var rowsBuiltinValidation = []Row{
	row("a deployment's selector must match its template",
		"POST deploy {metadata: {name: a}, spec: {selector: {matchLabels: {app: z}}, template: "+template+"}}"),
	row("a deployment's selector must not be empty",
		"POST deploy {metadata: {name: a}, spec: {selector: {}, template: "+template+"}}"),
	row("a deployment's selector cannot change", oneDeploy,
		"MERGE deploy/a {spec: {selector: {matchLabels: {app: z}}, template: {metadata: {labels: {app: z}}}}}"),
	row("a deployment of nothing", "POST deploy {metadata: {name: a}, spec: {}}"),
	row("a deployment with several faults has several causes",
		"POST deploy {metadata: {name: a}, spec: {replicas: -1, "+
			"selector: {matchLabels: {app: z}}, template: {metadata: {labels: {app: x}}, spec: {restartPolicy: Never, "+
			"containers: [{name: C, image: i}]}}}}"),
	row("a container needs a name and an image", "POST pod {metadata: {name: a}, spec: {containers: [{name: c}]}}",
		"POST pod {metadata: {name: a}, spec: {containers: [{image: i}]}}",
		"POST pod {metadata: {name: a}, spec: {containers: []}}"),
	row("two containers of one name",
		"POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i}, {name: c, image: i}]}}"),
	row("a pod's spec is mostly fixed", onePod, "MERGE pod/a {spec: {nodeName: n2}}",
		"MERGE pod/a {spec: {restartPolicy: Never}}"),
	row("a pod's image may change", onePod, "STRATEGIC pod/a {spec: {containers: [{name: c, image: k}]}}"),
	row("a request above its limit", "POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, "+
		"resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}}"),
	row("a limit becomes the request", "POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, "+
		"resources: {limits: {cpu: 1, memory: 1Gi}}}]}}"),
	row("quantities are written in one way",
		"POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, resources: "+
			"{requests: {cpu: '0.5', memory: 1024Mi}, limits: {cpu: 1000m, memory: '2147483648'}}}]}}"),
	row("a quantity that is not one", "POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, "+
		"resources: {requests: {cpu: lots}}}]}}"),
	row("a volume mount without a volume",
		"POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, volumeMounts: [{name: v, "+
			"mountPath: /v}]}]}}"),
	row("volumes get their modes", "POST pod {metadata: {name: a}, spec: {volumes: [{name: v, "+
		"configMap: {name: m}}, {name: w, secret: {secretName: s}}, "+
		"{name: e, emptyDir: {}}], containers: [{name: c, image: i}]}}"),
	row("probes get their times",
		"POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}], "+
			"livenessProbe: {httpGet: {path: /, port: 80}}, readinessProbe: {tcpSocket: {port: 80}}}]}}"),
	row("a tag other than latest is not always pulled",
		"POST pod {metadata: {name: a}, spec: {containers: [{name: c, image: 'i:v1'}, {name: d, image: 'i:latest'}]}}"),
	row("a stateful set's template claims",
		"POST sts {metadata: {name: a}, spec: {serviceName: s, selector: {matchLabels: {app: x}}, template: "+template+
			", volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], "+
			"resources: {requests: {storage: 1Gi}}}}]}}"),
	row("a stateful set whose template has a volume with the name of a claim", "POST sts {metadata: {name: a}, spec: {"+
		"selector: {matchLabels: {app: x}}, template: {metadata: {labels: {app: x}}, spec: {containers: [{name: c, "+
		"image: i, volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, persistentVolumeClaim: "+
		"{claimName: other}}]}}, volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], "+
		"resources: {requests: {storage: 1Gi}}}}]}}"),
	row("a stateful set's service name cannot change", "POST sts {metadata: {name: a}"+minimal["sts"]+"}",
		"MERGE sts/a {spec: {serviceName: other}}"),
	row("a daemon set's selector cannot change", "POST ds {metadata: {name: a}"+minimal["ds"]+"}",
		"MERGE ds/a {spec: {selector: {matchLabels: {app: z}}}}"),
	row("a cron job's schedule must parse",
		"POST cronjob {metadata: {name: a}, spec: {schedule: nonsense, jobTemplate: {spec: "+jobSpec+"}}}"),
	row("what a cron job's schedule may be", steps([]string{"61 * * * *", "* * 31 2 *", "@hourly", "@every 1h30m",
		"@often", "*/5 1-3 * JAN MON-FRI", "TZ=UTC * * * * *",
		"* * * * * *", "TZ=0"},
		"POST cronjob {metadata: {generateName: a}, spec: {schedule: '%s', jobTemplate: {spec: "+jobSpec+"}}}")...),
	row("what a cron job's time zone may be",
		steps([]string{"Europe/Berlin", "Nowhere/City", "Local", "''", "../etc", "-x"},
			"POST cronjob {metadata: {generateName: a}, spec: {schedule: '* * * * *', timeZone: %s, "+
				"jobTemplate: {spec: "+jobSpec+"}}}")...),
	row("a cron job's other bounds", "POST cronjob {metadata: {name: a}, spec: {schedule: '* * * * *', "+
		"concurrencyPolicy: Never, startingDeadlineSeconds: -1, "+
		"successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -2, jobTemplate: {spec: "+jobSpec+"}}}"),
	row("a cron job's schedule changes", "POST cronjob {metadata: {name: a}"+minimal["cronjob"]+"}",
		"MERGE cronjob/a {spec: {schedule: 'TZ=UTC * * * * *'}}",
		"MERGE cronjob/a {spec: {timeZone: Local}}", "MERGE cronjob/a {spec: {timeZone: Asia/Tokyo}}",
		"MERGE cronjob/a {spec: {schedule: '0 25 * * *'}}"),
	row("a role binding's role cannot change", "POST rb {metadata: {name: a}"+minimal["rb"]+"}",
		"MERGE rb/a {roleRef: {name: other}}"),
	row("a role binding's subjects and their groups",
		"POST rb {metadata: {name: a}, subjects: [{kind: User, name: u}, {kind: ServiceAccount, name: s, "+
			"namespace: n}]"+minimal["rb"]+"}",
		"POST rb {metadata: {name: b}, subjects: [{kind: ServiceAccount, name: s}]"+minimal["rb"]+"}"),
	row("a role's rules need verbs", "POST role {metadata: {name: a}, rules: [{apiGroups: [''], resources: [pods]}]}"),
	row("a cluster role may aggregate", "POST cr {metadata: {name: $ns-a}, "+
		"aggregationRule: {clusterRoleSelectors: [{matchLabels: {x: z}}]}, rules: []}"),
	row("an ingress needs a path type", "POST ing {metadata: {name: a}, spec: {rules: [{host: x.example, "+
		"http: {paths: [{path: /, backend: {service: {name: s, port: {number: 80}}}}]}}]}}"),
	row("a budget cannot have both bounds",
		"POST pdb {metadata: {name: a}, spec: {minAvailable: 1, maxUnavailable: 1}}"),
	row("an autoscaler's bounds", "POST hpa {metadata: {name: a}, spec: {minReplicas: 5, maxReplicas: 3, "+
		"scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}}"),
	row("an autoscaler in two versions", "POST hpa {metadata: {name: a}"+minimal["hpa"]+"}", "GET hpa1/a",
		"MERGE hpa1/a {spec: {targetCPUUtilizationPercentage: 70}}", "GET hpa/a").
		refused(oneAutoscaling),
	row("a claim's size cannot shrink, its class is given late", "POST pvc {metadata: {name: a}"+minimal["pvc"]+"}",
		"MERGE pvc/a {spec: {resources: {requests: {storage: 500Mi}}}}",
		"MERGE pvc/a {spec: {storageClassName: other}}"),
	row("a bound claim gives back no more than it could not have",
		"POST pvc {metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 3Gi}}}}",
		"MERGE pvc/a/status {status: {phase: Bound, capacity: {storage: 1Gi}}}",
		"MERGE pvc/a {spec: {resources: {requests: {storage: 2Gi}}}}",
		"MERGE pvc/a {spec: {resources: {requests: {storage: 1Gi}}}}"),
	row("a controller revision's data cannot change",
		"POST ctrlrev {metadata: {name: a}, revision: 1, data: {x: '1'}}", "MERGE ctrlrev/a {data: {x: '2'}}"),
	row("a controller revision's data, in another order than a patch writes it", "POST ctrlrev "+unsorted(1),
		"PUT ctrlrev/a "+unsorted(2),
		"MERGE ctrlrev/a {revision: 3}", "STRATEGIC ctrlrev/a {revision: 4}",
		"JSON ctrlrev/a [{op: replace, path: /revision, value: 5}]",
		"APPLY ctrlrev/a?fieldManager=m {metadata: {name: a, labels: {x: z}}}", "PUT ctrlrev/a $obj1 & {revision: 7}"),
	row("an ingress class's controller cannot change",
		"POST ingcls {metadata: {name: $ns-a}, spec: {controller: example.org/a}}",
		"MERGE ingcls/$ns-a {spec: {controller: example.org/b}}"),
	row("a storage class's provisioner cannot change", "POST sc {metadata: {name: $ns-a}, provisioner: x.example/p}",
		"MERGE sc/$ns-a {provisioner: x.example/q}"),
	row("an endpoint slice's address type cannot change",
		"POST slice {metadata: {name: a}, addressType: IPv4, endpoints: [{addresses: [192.0.2.7]}]}",
		"MERGE slice/a {addressType: IPv6}"),
	row("an endpoint slice's addresses are addresses",
		"POST slice {metadata: {name: a}, addressType: IPv4, endpoints: [{addresses: [nonsense]}]}").
		differs("Endpoint addresses are not checked."),
	row("a lease", "POST lease {metadata: {name: a}, spec: {holderIdentity: h, leaseDurationSeconds: 15, "+
		"acquireTime: '2020-01-01T00:00:00.000000Z', "+
		"renewTime: '2020-01-01T00:00:00.123456Z', leaseTransitions: 1}}",
		"MERGE lease/a {spec: {leaseDurationSeconds: 0}}"),
	row("a webhook's defaults and checks",
		"POST vwc {metadata: {name: $ns-b}, webhooks: [{name: plain, clientConfig: {url: 'http://x.example'}, "+
			"sideEffects: Some, admissionReviewVersions: []}]}"),
	row("a network policy's defaults", "POST netpol {metadata: {name: a}, spec: {podSelector: {}, egress: [{}]}}",
		"POST netpol {metadata: {name: b}, spec: {podSelector: {}, ingress: [{ports: [{port: 80}]}]}}"),
	row("a priority class is fixed", "POST pc {metadata: {name: $ns-a}, value: 5}", "MERGE pc/$ns-a {value: 6}"),
	row("a pod of a priority class", "POST pc {metadata: {name: $ns-b}, value: 7}",
		"POST pod {metadata: {name: a}, spec: {priorityClassName: $ns-b, containers: [{name: c, image: i}]}}",
		"POST pod {metadata: {name: b}, spec: {priorityClassName: absent, containers: [{name: c, image: i}]}}").
		differs("A pod's priority class is not looked up: no priority is filled in from it, " +
			"and one that is not there is not refused."),
	row("an event of another namespace",
		"POST event {metadata: {name: a}, involvedObject: {kind: Pod, name: p, namespace: other}}"),
	row("an event in two versions", "POST ev1 {metadata: {name: a}"+minimal["ev1"]+", note: n}", "GET event/a"),
	row("a definition whose default has another type", wrongDefinition("a: {type: integer, default: x}")),
	row("a definition whose rule names an unknown field",
		wrongDefinition("a: {type: object, properties: {b: {type: string}}, "+
			"x-kubernetes-validations: [{rule: self.c == 1}]}")),
	row("a definition whose rule is empty",
		wrongDefinition("a: {type: string, x-kubernetes-validations: [{rule: \"\"}]}")),
	row("a definition whose rule costs too much",
		wrongDefinition("a: {type: array, items: {type: string}, "+
			"x-kubernetes-validations: [{rule: \"self.all(x, self.all(y, self.all(z, x != y)))\"}]}")).
		differs("The cost of rules of a definition is estimated one by one, and not in total."),
	row("a custom resource definition that is wrong",
		"POST crd {metadata: {name: things.x.example}, spec: {group: x.example, scope: Namespaced, "+
			"names: {plural: others, kind: Thing}, versions: [{name: v1, served: true, storage: false}]}}").
		differs("A definition that is wrong is refused for the same main causes, " +
			"but not in the words of the internal Go types. " +
			"The use of oldSelf in a part that cannot be correlated is not checked."),
}

// wrongDefinition creates a definition whose spec has a property.
func wrongDefinition(property string) string {
	return "POST crd {metadata: {name: things.x.example}, spec: {group: x.example, scope: Namespaced, " +
		"names: {plural: things, singular: thing, kind: Thing, listKind: ThingList}, " +
		"versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, " +
		"properties: {spec: {type: object, properties: {" + property + "}}}}}}]}}"
}

var rowsSecrets = []Row{
	row("stringData becomes data", "POST secret {metadata: {name: a}, data: {k: dg==}, stringData: {k: w, l: x}}",
		"GET secret/a"),
	row("stringData by patch", "POST secret {metadata: {name: a}, data: {k: dg==}}",
		"MERGE secret/a {stringData: {k: w}}"),
	row("data that is not base64 is BadRequest", "POST secret {metadata: {name: a}, data: {k: '***'}}"),
	row("the type is Opaque and cannot change", "POST secret {metadata: {name: a}}",
		"MERGE secret/a {type: example/other}"),
	row("typed secrets need their keys", "POST secret {metadata: {name: a}, type: kubernetes.io/tls, data: {}}",
		"POST secret {metadata: {name: a}, type: kubernetes.io/basic-auth}",
		"POST secret {metadata: {name: a}, type: kubernetes.io/dockerconfigjson, "+
			"stringData: {.dockerconfigjson: nope}}",
		"POST secret {metadata: {name: a}, type: kubernetes.io/ssh-auth}",
		"POST secret {metadata: {name: a}, type: kubernetes.io/service-account-token}"),
	row("an immutable secret", "POST secret {metadata: {name: a}, immutable: true, data: {k: dg==}}",
		"MERGE secret/a {data: {k: dw==}}",
		"MERGE secret/a {immutable: false}", "MERGE secret/a {immutable: null}",
		"MERGE secret/a {metadata: {labels: {x: z}}}", "DELETE secret/a"),
	row("an immutable configmap", "POST cm {metadata: {name: a}, immutable: true, data: {k: v}}",
		"MERGE cm/a {data: {k: w}}",
		"MERGE cm/a {immutable: false}", "MERGE cm/a {binaryData: {l: dw==}}",
		"MERGE cm/a {metadata: {labels: {x: z}}}"),
	row("becoming immutable", oneMap, "MERGE cm/a {immutable: true, data: {k: w}}", "MERGE cm/a {data: {k: v}}"),
	row("keys of secrets", "POST secret {metadata: {name: a}, stringData: {'a b': v}}",
		"POST secret {metadata: {name: a}, data: {'': ''}}"),
	row("binary data", "POST cm {metadata: {name: a}, binaryData: {k: AAEC}}", "GET cm/a"),
}

const noAddresses = "Service addresses are handed out in order; one that the client chooses is taken as it is, " +
	"without a look at the range or at other services."

const oneService = "POST svc {metadata: {name: a}, spec: {selector: {app: x}, ports: [{port: 80}]}}"

var rowsServices = []Row{
	row("an address is given", oneService, "GET svc/a"),
	row("the address cannot change", oneService,
		"MERGE svc/a {spec: {clusterIP: 10.96.0.77, clusterIPs: [10.96.0.77]}}"),
	row("an update without the address keeps it", oneService,
		"PUT svc/a {metadata: {name: a, resourceVersion: '$rv1'}, spec: {ports: [{port: 81}]}}"),
	row("an update without version or address", oneService,
		"PUT svc/a {metadata: {name: a}, spec: {ports: [{port: 81}]}}"),
	row("headless", "POST svc {metadata: {name: a}, spec: {clusterIP: None, ports: [{port: 80}]}}"),
	row("an external name", "POST svc {metadata: {name: a}, spec: {type: ExternalName, externalName: x.example}}",
		"POST svc {metadata: {name: b}, spec: {type: ExternalName}}"),
	row("node ports are given", "POST svc {metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80}]}}"),
	row("a node port stays with its name",
		"POST svc {metadata: {name: a}, spec: {type: NodePort, ports: [{port: 80}]}}",
		"PUT svc/a {metadata: {name: a}, spec: {type: NodePort, ports: [{port: 81}]}}",
		"PUT svc/a {metadata: {name: a}, spec: {type: NodePort, ports: [{name: other, port: 81}]}}"),
	row("a health check port is given and stays",
		"POST svc {metadata: {name: a}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]}}",
		"PUT svc/a {metadata: {name: a}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, "+
			"ports: [{port: 80}]}}",
		"MERGE svc/a {spec: {externalTrafficPolicy: Cluster}}"),
	row("a load balancer", "POST svc {metadata: {name: a}, spec: {type: LoadBalancer, ports: [{port: 80}]}}"),
	row("an address outside the range",
		"POST svc {metadata: {name: a}, spec: {clusterIP: 192.0.2.1, ports: [{port: 80}]}}").
		differs(noAddresses),
	row("an address of one's own choice, twice",
		"POST svc {metadata: {name: a}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}",
		"POST svc {metadata: {name: b}, spec: {clusterIP: 10.96.0.9, ports: [{port: 80}]}}",
		"DELETE svc/a").differs(noAddresses),
	row("no ports", "POST svc {metadata: {name: a}, spec: {}}"),
	row("two ports need names", "POST svc {metadata: {name: a}, spec: {ports: [{port: 80}, {port: 81}]}}"),
	row("a port twice", "POST svc {metadata: {name: a}, spec: {ports: [{name: x, port: 80}, {name: z, port: 80}]}}"),
	row("a port out of range", "POST svc {metadata: {name: a}, spec: {ports: [{port: 70000}]}}"),
	row("a target port by name", "POST svc {metadata: {name: a}, spec: {ports: [{port: 80, targetPort: http}]}}"),
	row("from cluster address to node port and back", oneService, "MERGE svc/a {spec: {type: NodePort}}",
		"MERGE svc/a {spec: {type: ClusterIP}}"),
	row("from cluster address to external name", oneService,
		"MERGE svc/a {spec: {type: ExternalName, externalName: x.example}}"),
	row("session affinity gets its time",
		"POST svc {metadata: {name: a}, spec: {sessionAffinity: ClientIP, ports: [{port: 80}]}}"),
	row("an unknown type", "POST svc {metadata: {name: a}, spec: {type: Odd, ports: [{port: 80}]}}"),
}

const oneJob = "POST job {metadata: {name: a}, spec: " + jobSpec + "}"

var rowsJobs = []Row{
	row("a selector and labels are made", oneJob, "GET job/a"),
	row("a manual selector",
		"POST job {metadata: {name: a}, spec: {manualSelector: true, selector: {matchLabels: {app: x}}, template: "+
			"{metadata: {labels: {app: x}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"),
	row("a selector that is not manual",
		"POST job {metadata: {name: a}, spec: {selector: {matchLabels: {app: x}}, template: "+
			"{metadata: {labels: {app: x}}, spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"),
	row("the template cannot change", oneJob,
		"STRATEGIC job/a {spec: {template: {spec: {containers: [{name: c, image: j}]}}}}").
		differs("The refusal shows the template as the API has it; the real server shows its internal Go type."),
	row("parallelism and suspension may change", oneJob, "MERGE job/a {spec: {parallelism: 3}}",
		"MERGE job/a {spec: {suspend: true}}",
		"MERGE job/a {spec: {completions: 4}}"),
	row("a suspended job's template may change in part",
		"POST job {metadata: {name: a}, spec: {suspend: true, template: {spec: {restartPolicy: Never, "+
			"containers: [{name: c, image: i}]}}}}", "MERGE job/a {spec: {template: {spec: {nodeSelector: {x: z}}}}}"),
	row("a suspended job may ask for more, but not run something else",
		"POST job {metadata: {name: a}, spec: {suspend: true, template: {spec: {restartPolicy: Never, "+
			"containers: [{name: c, image: i}]}}}}",
		"STRATEGIC job/a {spec: {template: {spec: {containers: [{name: c, resources: {requests: {cpu: '1'}}}]}}}}",
		"STRATEGIC job/a {spec: {template: {spec: {containers: [{name: c, image: j}]}}}}").
		differs("The refusal shows the template as the API has it; the real server shows its internal Go type."),
	row("who manages it cannot change", oneJob, "MERGE job/a {spec: {managedBy: example.org/other}}"),
	row("it must not restart always",
		"POST job {metadata: {name: a}, spec: {template: {spec: {containers: [{name: c, image: i}]}}}}"),
	row("an indexed job without completions",
		"POST job {metadata: {name: a}, spec: {completionMode: Indexed, template: {spec: {restartPolicy: Never, "+
			"containers: [{name: c, image: i}]}}}}"),
	row("deletion without a policy warns or orphans", oneJob, "DELETE job/a", "GET job/a"),
	row("completion is written once", oneJob,
		"MERGE job/a/status {status: {conditions: [{type: Complete, status: 'True'}]}}",
		"MERGE job/a/status {status: {startTime: '2020-01-01T00:00:00Z', completionTime: '2020-01-01T00:01:00Z', "+
			"succeeded: 1, uncountedTerminatedPods: {}, "+
			"conditions: [{type: SuccessCriteriaMet, status: 'True'}, {type: Complete, "+
			"status: 'True'}]}}").differs("A job's status is not checked for conditions that cannot be true together."),
	row("a cron job's name for a job", "POST job {metadata: {generateName: a-}, spec: "+jobSpec+"}"),
}
