// This file holds what users and repositories declare, and what of that depends on what.

package reposync

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
)

// What a RootSync may declare.
const (
	// allForShop is what a user would create: shop/repo-sync, its namespace and what it needs, with
	// the rights to what it manages by a RoleBinding in the namespace.
	allForShop = "all for shop"
	// oneForEach is a ConfigMap for every namespace of the team.
	oneForEach = "one for each"
	// oneDefinition is a CustomResourceDefinition, and a custom resource that another controller
	// holds.
	oneDefinition = "one definition"
)

// hold is the finalizer of another controller, team the label of a team's namespaces, and
// rightsName the user's RoleBinding for reconcilers.
const (
	hold       = "example.com/hold"
	team       = "example.com/team"
	rightsName = "syncs-repo"
)

// stray is an object of a user's that no RepoSync manages. A managed object depends on it.
var stray = history.Ref{Kind: "Secret", Namespace: shop.Namespace, Name: "ledger"}

// definition is what a RootSync declares with one resource of it.
var definition = history.Ref{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition",
	Name: "widgets.example.com"}

// widget is that resource.
func widget() *unstructured.Unstructured {
	return bare("example.com/v1", "Widget", shop.Namespace, "one")
}

// definedWidget is both, the definition first.
func definedWidget() []*unstructured.Unstructured {
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}
	crd := bare("apiextensions.k8s.io/v1", definition.Kind, "", definition.Name)
	crd.Object["spec"] = map[string]any{"group": "example.com", "scope": "Namespaced",
		"names":    map[string]any{"plural": "widgets", "kind": "Widget"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": schema}}}
	held := widget()
	held.SetFinalizers([]string{hold})
	return []*unstructured.Unstructured{crd, held}
}

// kinds are those of managed objects, each of which may depend on the next.
var kinds = []string{"ConfigMap", "Service", "ServiceAccount"}

func namespaceRef(name string) history.Ref { return history.Ref{Kind: "Namespace", Name: name} }

// managed are the objects that a repository declares, dependents first. Of a RootSync they are
// those of [allForShop].
func managed(sync types.NamespacedName) (out []history.Ref) {
	if sync == root {
		return []history.Ref{
			{Group: "configsync.gke.io", Kind: "RepoSync", Namespace: shop.Namespace, Name: shop.Name},
			{Group: rbacv1.GroupName, Kind: "RoleBinding", Namespace: shop.Namespace, Name: rightsName},
			{Kind: "Secret", Namespace: shop.Namespace, Name: "git-creds"}, namespaceRef(shop.Namespace)}
	}
	for i, name := range []string{"settings", "database", "runner"} {
		if sync.Name != shop.Name {
			name += "-" + sync.Name
		}
		out = append(out, history.Ref{Kind: kinds[i], Namespace: sync.Namespace, Name: name})
	}
	return out
}

// dependencies are what managed objects say that they depend on.
func (s Setting) dependencies() map[history.Ref]history.Ref {
	on := map[history.Ref]history.Ref{}
	for _, sync := range s.Syncs {
		all := managed(sync)
		for i := range s.Chain {
			on[all[i]] = all[i+1]
		}
		if s.Stray {
			on[all[0]] = stray
		}
	}
	return on
}

// needed is a RepoSync and all that it needs.
func (s Setting) needed(sync types.NamespacedName) []client.Object {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: sync.Namespace, Name: name} }
	home := worlds.Namespace(sync.Namespace)
	if s.Root == oneForEach {
		home.Labels = map[string]string{team: "shop"}
	}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"}
	name := reposync.ReconcilerName(sync)
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: reposync.Namespace, Name: name}}
	cluster := metav1.ObjectMeta{Name: name}
	var rights client.Object = &rbacv1.ClusterRoleBinding{ObjectMeta: cluster, RoleRef: role, Subjects: subjects}
	if s.Inside || s.Root == allForShop {
		rights = &rbacv1.RoleBinding{ObjectMeta: meta(rightsName), RoleRef: role, Subjects: subjects}
	}
	secret := &corev1.Secret{ObjectMeta: meta("git-creds"), StringData: map[string]string{"token": "t"}}
	needed := []client.Object{home, secret, rights}
	if s.Stray {
		needed = append(needed, &corev1.Secret{ObjectMeta: meta(stray.Name)})
	}
	return append(needed, s.repoSync(sync))
}

// repoSync is a RepoSync, or the RootSync, as a user's file has it.
func (s Setting) repoSync(sync types.NamespacedName) *unstructured.Unstructured {
	meta := metav1.ObjectMeta{Namespace: sync.Namespace, Name: sync.Name, Annotations: map[string]string{}}
	spec := v1beta1.SyncSpec{SourceFormat: "unstructured", SourceType: "git", Git: &v1beta1.Git{
		Repo: "https://git.example/" + sync.Namespace, Auth: "token", SecretRef: v1beta1.SecretRef{Name: "git-creds"},
	}}
	if !s.Orphans {
		meta.Annotations[v1beta1.DeletionPropagationPolicy] = v1beta1.Foreground
	}
	if sync == root {
		return file(&v1beta1.RootSync{ObjectMeta: meta, Spec: spec})
	}
	if s.Inside {
		rights := history.Ref{Kind: "RoleBinding", Namespace: sync.Namespace, Name: rightsName}
		meta.Annotations[reposync.DependsOn] = rbacv1.GroupName + needs(rights)
	}
	return file(&v1beta1.RepoSync{ObjectMeta: meta, Spec: spec})
}

// file returns an object as a file has it, without a status.
func file(o client.Object) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	worlds.Must(err, "converting %T", o)
	kind, err := apiutil.GVKForObject(o, scheme)
	worlds.Must(err, "the kind of %T", o)
	delete(fields, "status")
	f := &unstructured.Unstructured{Object: fields}
	f.SetGroupVersionKind(kind)
	return f
}

// source is what repositories declare: that of a RepoSync a ConfigMap, a Service and a
// ServiceAccount.
func (s *World) source(_ context.Context, of v1beta1.Sync) (out []*unstructured.Unstructured, err error) {
	sync := client.ObjectKeyFromObject(of)
	switch {
	case sync == root && s.setting.Root == oneDefinition:
		return definedWidget(), nil
	case sync == root && s.setting.Root == oneForEach:
		selects := map[string]string{reposync.NamespaceSelector: team + "=shop"}
		each := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "team", Annotations: selects}}
		return append(out, file(each)), nil
	case sync == root:
		for _, o := range s.setting.needed(shop) {
			out = append(out, file(o))
		}
		return out, nil
	}
	for i, ref := range slices.Backward(managed(sync)) {
		o := bare("v1", ref.Kind, ref.Namespace, ref.Name)
		if ref.Kind == "Service" {
			o.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(5432)}}}
		}
		if on, depends := s.setting.dependencies()[ref]; depends {
			o.SetAnnotations(map[string]string{reposync.DependsOn: needs(on)})
		}
		if s.setting.Held && i == 0 && sync == shop {
			o.SetFinalizers([]string{hold})
		}
		out = append(out, o)
	}
	if s.setting.Declare != nil {
		out = s.setting.Declare(out)
	}
	return out, nil
}

// bare is an object with nothing in it.
func bare(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// needs says, in the annotation for that, that an object depends on a managed one.
func needs(on history.Ref) string {
	return "/namespaces/" + on.Namespace + "/" + on.Kind + "/" + on.Name
}
