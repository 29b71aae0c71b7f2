package sim_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
	"github.com/wavetank/wavetank/sim/result"
)

// duplicator makes a Secret of each ConfigMap.
type duplicator struct{ client.Client }

func (d *duplicator) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if req.Namespace != "default" {
		return ctrl.Result{}, nil
	}
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
	return ctrl.Result{}, client.IgnoreAlreadyExists(d.Create(ctx, s))
}

func (d *duplicator) SetupWithManager(mgr ctrl.Manager) error {
	d.Client = mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(d)
}

const deployment = `apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: system}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: system}
spec: {template: {spec: {serviceAccountName: manager}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: leader-election}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, create, update]}
- {apiGroups: ["", events.k8s.io], resources: [events], verbs: [create, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: leader-election}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: leader-election}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager}
`

// deployed is a directory with the copier's manifests. Its ClusterRole has the rules.
func deployed(t *testing.T, rules string) (dir string) {
	dir = t.TempDir()
	for name, text := range map[string]string{
		"kustomization.yaml": "namespace: copier-system\nnamePrefix: copier-\nresources: [all.yaml]\n",
		"all.yaml":           deployment + rules,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// explore runs the copier with the rules of its ClusterRole.
func explore(t *testing.T, rules string) result.Report {
	dir := deployed(t, rules)
	return sim.Explore(t, func(w *sim.World) {
		w.Start("copier", new(duplicator).SetupWithManager, sim.AsDeployed(dir),
			sim.Options(ctrl.Options{LeaderElection: true, LeaderElectionID: "copier"}))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(2))
}

const roles = "ClusterRole copier-manager or Role copier-system/copier-leader-election"

const reads = `{apiGroups: [""], resources: [configmaps], verbs: [get, list, watch]}`

// A process has the rights of its deployment. A request that they do not allow is a violation on
// the default schedule, and those that suffice are judged for what was not needed.
func TestAsDeployedReportsMissingRights(t *testing.T) {
	for _, c := range []struct{ name, rules, want string }{
		{"informer", `rules: [{apiGroups: [""], resources: [secrets], verbs: [create]}]`,
			"copier may not list ConfigMap: no rule of " + roles + " allows it|" +
				`add // +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch`},
		{"write", "rules: [" + reads + "]",
			"copier may not create Secret: no rule of " + roles + " allows it|" +
				"the request is sent at sim/deployed_test.go:30|" +
				`add // +kubebuilder:rbac:groups="",resources=secrets,verbs=create`},
		{"aggregated", `aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: manager}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part, labels: {to: manager}}
rules: [` + reads + `, {apiGroups: [""], resources: [secrets], verbs: [create]}]`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := explore(t, c.rules)
			switch {
			case c.want == "" && r.Failure != nil:
				t.Error(r.Failure.Message)
			case c.want == "":
			case r.Failure == nil:
				t.Error("nothing was found")
			case r.Failure.Property != "no missing permission" || r.Failure.Run != 0:
				t.Errorf("%s, in run %d: %s", r.Failure.Property, r.Failure.Run, r.Failure.Message)
			}
			for _, want := range strings.Split(c.want, "|") {
				if r.Failure != nil && !strings.Contains(r.Failure.Message, want) {
					t.Errorf("it does not say %q:\n%s", want, r.Failure.Message)
				}
			}
		})
	}
}

func TestUnusedRightsAreListed(t *testing.T) {
	r := explore(t, "rules: ["+reads+`, {apiGroups: [""], resources: [secrets], verbs: [create, delete]},
  {apiGroups: [""], resources: [secrets/finalizers], verbs: [update]}]`)
	if r.Failure != nil {
		t.Fatal(r.Failure.Message)
	}
	got := strings.Join(r.Rights.Words(), "\n")
	if want := "ClusterRole copier-manager: delete secrets"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

const namespaced = `apiVersion: v1
kind: ServiceAccount
metadata: {name: manager, namespace: default}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: manager, namespace: default}
spec: {template: {spec: {serviceAccountName: manager}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: manager, namespace: default}
rules: [` + reads + `]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: manager, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: manager}
subjects: [{kind: ServiceAccount, name: manager, namespace: default}]
`

// An upgrade brings the rights of its deployment. Without those it has those of the version before.
func TestAnUpgradeReplacesRoles(t *testing.T) {
	const creates = "\n- {apiGroups: [\"\"], resources: [secrets], verbs: [create]}\n"
	reader, copier := deployed(t, "rules:\n- "+reads+"\n"), deployed(t, "rules:\n- "+reads+creates)
	for _, manifests := range [][]sim.ProcessOption{{sim.AsDeployed(copier)}, nil} {
		f := sim.Explore(t, func(w *sim.World) {
			w.Start("copier", idle, sim.AsDeployed(reader))
			w.Upgrade("copier", new(duplicator).SetupWithManager, manifests...)
			w.Apply(simtest.ConfigMap("a"))
			w.Settle()
		}, sim.Runs(3)).Failure
		if missing := f != nil && f.Property == property.DefaultNoMissingPermission; missing != (manifests == nil) {
			t.Errorf("with %d manifests: %+v", len(manifests), f)
		}
	}
}

// The marker for an operator that has only Roles adds the rule to its Role.
func TestMarkerNamesTheNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "all.yaml")
	if err := os.WriteFile(file, []byte(namespaced), 0o666); err != nil {
		t.Fatal(err)
	}
	f := sim.Explore(t, func(w *sim.World) {
		w.Start("copier", new(duplicator).SetupWithManager, sim.AsDeployed(file),
			sim.Options(ctrl.Options{Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}}}))
		w.Apply(simtest.ConfigMap("a"))
		w.Settle()
	}, sim.Runs(2)).Failure
	const want = `no rule of Role default/manager allows it
the request is sent at sim/deployed_test.go:30
add // +kubebuilder:rbac:groups="",resources=secrets,verbs=create,namespace=default`
	if f == nil || !strings.Contains(f.Message, want) {
		t.Errorf("it does not say\n%s\n%+v", want, f)
	}
}
