package deployed

import "fmt"

// bundle are the objects that OLM makes of a ClusterServiceVersion.
func bundle(csv Object) (out set) {
	namespace := at[string](csv, "metadata", "annotations", "operatorframework.io/suggested-namespace")
	if namespace == "" {
		namespace = "operators" // of the OperatorGroup for all namespaces
	}
	accounts := map[string]bool{}
	account := func(name string) {
		if name != "" && name != "default" && !accounts[name] {
			accounts[name] = true
			out = append(out, newObject("v1", "ServiceAccount", namespace, name))
		}
	}
	install := at[map[string]any](csv, "spec", "install", "spec")
	for _, d := range listOf(install, "deployments") {
		made := newObject("apps/v1", "Deployment", namespace, at[string](d, "name"))
		made.Object["spec"] = d["spec"]
		account(made.RunsAs())
		out = append(out, made)
	}
	for _, scope := range []struct{ field, prefix, in string }{
		{"clusterPermissions", "Cluster", ""}, {"permissions", "", namespace},
	} {
		for i, p := range listOf(install, scope.field) {
			to := at[string](p, "serviceAccountName")
			account(to)
			name := fmt.Sprintf("%s-%d", to, i)
			role := newObject(rbacVersion, scope.prefix+"Role", scope.in, name)
			role.Object["rules"] = p["rules"]
			binding := newObject(rbacVersion, scope.prefix+"RoleBinding", scope.in, name)
			ref := map[string]any{"apiGroup": rbacGroup, "kind": scope.prefix + "Role", "name": name}
			binding.Object["roleRef"] = ref
			binding.Object["subjects"] = []any{
				map[string]any{"kind": "ServiceAccount", "namespace": namespace, "name": to},
			}
			out = append(out, role, binding)
		}
	}
	return out
}

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
)

// listOf are the objects in a list.
func listOf(o Object, path ...string) (out []Object) {
	for _, item := range at[[]any](o, path...) {
		if item, ok := item.(map[string]any); ok {
			out = append(out, item)
		}
	}
	return out
}
