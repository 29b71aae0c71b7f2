package scaffold_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

const installed = `apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: manager
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
`

const csv = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: backup.v1}
spec:
  install:
    spec:
      clusterPermissions:
      - serviceAccountName: backup
        rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`

// A test runs the operator with the rights that ship, wherever they are, and says why it does not.
func TestRights(t *testing.T) {
	const kustomization = "namespace: backup\nresources: [../rbac]\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"a kustomization", map[string]string{
			"config/default/kustomization.yaml": kustomization,
			"config/rbac/kustomization.yaml":    "resources: [all.yaml]",
			"config/rbac/all.yaml":              installed, "a/kustomization.yaml": "resources: [../config/rbac]",
		}, []string{`sim.AsDeployed("../config/default")`}},
		{"plain files", map[string]string{"deploy/all.yaml": installed}, []string{`sim.AsDeployed("../deploy")`}},
		{"an example next to it", map[string]string{"examples/x/kustomization.yaml": "resources: [all.yaml]",
			"examples/x/all.yaml": installed, "install/all.yaml": installed}, []string{`sim.AsDeployed("../install")`}},
		{"a chart", map[string]string{"charts/b/Chart.yaml": "name: b\n", "charts/b/templates/all.yaml": installed},
			[]string{`sim.AsDeployed("../charts/b")`}},
		{"a bundle", map[string]string{"bundle/manifests/backup.clusterserviceversion.yaml": csv},
			[]string{`sim.AsDeployed("../bundle/manifests")`}},
		{"a template", map[string]string{
			"charts/b/Chart.yaml":         "name: b\n",
			"charts/b/templates/all.yaml": strings.ReplaceAll(installed, "system", "{{ .Release.Namespace }}"),
		}, []string{"runs as cluster administrator", "charts/b/templates/all.yaml has a ServiceAccount and " +
			"is a template: write what helm template prints to a file"}},
		{"a kustomization that does not build", map[string]string{
			"config/default/kustomization.yaml": "resources: [../rbac]\n", "deploy/all.yaml": installed,
		}, []string{"runs as cluster administrator", "config/default/kustomization.yaml", "no such file"}},
		{"nothing", nil, []string{"runs as cluster administrator", "no kustomization (config/default), Helm chart"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, _ := projectFiles(t, "testdata/mail.txtar")
			maps.Copy(files, c.files)
			p, err := scaffold.Read(project(t, files))
			if err != nil {
				t.Fatal(err)
			}
			text := source(t, p, p.Processes[0])
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("the test does not have %q:\n%s", want, text)
				}
			}
			if admin := strings.Contains(text, "administrator"); admin == strings.Contains(c.want[0], "sim.As") {
				t.Errorf("%s", text)
			}
		})
	}
}
