package property

import (
	"fmt"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// allocation is a row of the table of values that a cluster allocates: which value an object gets
// depends on what was allocated before it, so it differs between two runs that are both right.
type allocation struct {
	kind string // of the objects, with its group: "Pod", "Deployment.apps"
	path string // of the field; "[]" is each element of a list. An empty path is the whole object
	when string // conditions on the object, "path=value and path=value"; empty: always
	// copied says that the value is ignored wherever it is written: as a whole number, or as a word
	// in a string.
	copied   bool
	upstream string // the file of kubernetes/kubernetes that allocates the value
}

// allocated is the table. The page docs/properties.md shows it.
var allocated = []allocation{
	{kind: "Service", path: "spec.clusterIP", copied: true, upstream: "pkg/registry/core/service/storage/alloc.go"},
	{kind: "Service", path: "spec.clusterIPs[]", copied: true, upstream: "pkg/registry/core/service/storage/alloc.go"},
	{kind: "Service", path: "spec.ports[].nodePort", copied: true,
		upstream: "pkg/registry/core/service/storage/alloc.go"},
	{kind: "Service", path: "spec.healthCheckNodePort", copied: true,
		upstream: "pkg/registry/core/service/storage/alloc.go"},
	{kind: "Pod", path: "spec.nodeName", upstream: "pkg/scheduler/framework/plugins/defaultbinder/default_binder.go"},
	{kind: "Pod", path: "status.hostIP", upstream: "pkg/kubelet/kubelet_pods.go"},
	{kind: "Pod", path: "status.hostIPs[].ip", upstream: "pkg/kubelet/kubelet_pods.go"},
	{kind: "Pod", path: "status.podIP", copied: true, upstream: "pkg/kubelet/kubelet_pods.go"},
	{kind: "Pod", path: "status.podIPs[].ip", copied: true, upstream: "pkg/kubelet/kubelet_pods.go"},
	{kind: "Pod", path: `metadata.labels["pod-template-generation"]`,
		upstream: "pkg/controller/daemon/util/daemonset_util.go"},
	{kind: "EndpointSlice.discovery.k8s.io", path: "endpoints[].addresses[]",
		upstream: "staging/src/k8s.io/endpointslice/utils.go"},
	{kind: "EndpointSlice.discovery.k8s.io", path: "endpoints[].nodeName",
		upstream: "staging/src/k8s.io/endpointslice/utils.go"},
	{kind: "Deployment.apps", path: `metadata.annotations["deployment.kubernetes.io/revision"]`,
		upstream: "pkg/controller/deployment/util/deployment_util.go"},
	{kind: "ReplicaSet.apps", path: `metadata.annotations["deployment.kubernetes.io/revision"]`,
		upstream: "pkg/controller/deployment/util/deployment_util.go"},
	{kind: "ReplicaSet.apps", path: `metadata.annotations["deployment.kubernetes.io/revision-history"]`,
		upstream: "pkg/controller/deployment/util/deployment_util.go"},
	{kind: "Deployment.apps", path: "status.collisionCount", upstream: "pkg/controller/deployment/sync.go"},
	{kind: "ReplicaSet.apps", path: `metadata.labels["pod-template-hash"]`, copied: true,
		upstream: "pkg/controller/deployment/sync.go"},
	{kind: "ReplicaSet.apps", when: "spec.replicas=0 and metadata.ownerReferences[].kind=Deployment",
		upstream: "pkg/controller/deployment/sync.go"},
	{kind: "ControllerRevision.apps", upstream: "pkg/controller/history/controller_history.go"},
	{kind: "DaemonSet.apps", path: `metadata.annotations["deprecated.daemonset.template.generation"]`,
		upstream: "pkg/registry/apps/daemonset/strategy.go"},
}

// rowsOf are the rows of the table for a kind, with their paths in parts.
var rowsOf = func() map[string][]row {
	out := map[string][]row{}
	for _, a := range allocated {
		out[a.kind] = append(out[a.kind], row{a, parts(a.path)})
	}
	return out
}()

type row struct {
	allocation
	parts []string
}

// parts takes a path apart: `a.b[]["c.d"]` is "a", "b", "[]", "c.d".
func parts(path string) (out []string) {
	for path != "" {
		if quoted, ok := strings.CutPrefix(path, `["`); ok {
			name, rest, _ := strings.Cut(quoted, `"]`)
			out, path = append(out, name), rest
			continue
		}
		if rest, ok := strings.CutPrefix(path, "[]"); ok {
			out, path = append(out, "[]"), rest
			continue
		}
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		if end > 0 {
			out = append(out, path[:end])
		}
		path = path[end:]
	}
	return out
}

// visit calls f with each value at the path, and takes those out for which f returns true. It
// returns v without them.
func visit(v any, path []string, f func(any) bool) any {
	at := func(inner any) (any, bool) {
		if len(path) == 1 {
			return inner, f(inner)
		}
		return visit(inner, path[1:], f), false
	}
	switch v := v.(type) {
	case []any:
		if path[0] != "[]" {
			return v
		}
		kept := make([]any, 0, len(v))
		for _, x := range v {
			if y, gone := at(x); !gone {
				kept = append(kept, y)
			}
		}
		return kept
	case map[string]any:
		if x, ok := v[path[0]]; ok {
			y, gone := at(x)
			if v[path[0]] = y; gone {
				delete(v, path[0])
			}
		}
	}
	return v
}

// chosen reports whether a value at an allocated field was not allocated: a Service without an
// address states it.
func chosen(v any) bool { return v == nil || v == "" || v == "None" || v == float64(0) }

// applies reports whether the row is about this object.
func (r row) applies(object map[string]any) bool {
	for _, condition := range strings.Split(r.when, " and ") {
		path, want, ok := strings.Cut(condition, "=")
		if !ok {
			continue
		}
		found := false
		visit(object, parts(path), func(v any) bool {
			found = found || fmt.Sprint(v) == want
			return false
		})
		if !found {
			return false
		}
	}
	return true
}

// kindOf is the kind as the table writes it.
func kindOf(ref history.Ref) string {
	if ref.Group == "" {
		return ref.Kind
	}
	return ref.Kind + "." + ref.Group
}

// without takes what was allocated out of a decoded object, and calls copied with the values that
// may have been copied elsewhere. It returns nil if the whole object is left aside.
func without(ref history.Ref, object map[string]any, copied func(any)) map[string]any {
	for _, r := range rowsOf[kindOf(ref)] {
		switch {
		case !r.applies(object):
		case len(r.parts) == 0:
			return nil
		default:
			visit(object, r.parts, func(v any) bool {
				if r.copied && !chosen(v) {
					copied(v)
				}
				return !chosen(v)
			})
		}
	}
	return object
}
