// This file holds what repositories declare, and what of that depends on what.

package reposync

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/history"
)

// kinds are those of managed objects, each of which may depend on the next.
var kinds = []string{"ConfigMap", "Service", "ServiceAccount"}

// managed are the objects that a repository declares, dependents first. Of a RootSync they are
// those of [allForShop].
func managed(sync types.NamespacedName) (out []history.Ref) {
	if sync == root {
		return []history.Ref{syncRef(shop),
			{Group: rbacv1.GroupName, Kind: "RoleBinding", Namespace: shop.Namespace, Name: "syncs-repo"},
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

// source is what repositories declare: that of a RepoSync a ConfigMap, a Service and a
// ServiceAccount.
func (s *World) source(_ context.Context, of v1beta1.Sync) (out []*unstructured.Unstructured, err error) {
	sync := client.ObjectKeyFromObject(of)
	switch {
	case sync == root && s.setting.Root == oneForEach:
		each := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "team",
			Annotations: map[string]string{reposync.NamespaceSelector: team + "=shop"}}}
		return []*unstructured.Unstructured{file(each, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}, nil
	case sync == root:
		for _, o := range s.setting.needed(shop) {
			kind, err := apiutil.GVKForObject(o, scheme)
			if err != nil {
				return nil, err
			}
			out = append(out, file(o, kind))
		}
		return out, nil
	}
	refs := managed(sync)
	for i := len(refs) - 1; i >= 0; i-- {
		o := bare("v1", refs[i].Kind, refs[i].Namespace, refs[i].Name)
		if refs[i].Kind == "Service" {
			o.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(5432)}}}
		}
		if i < s.setting.Chain {
			o.SetAnnotations(map[string]string{reposync.DependsOn: needs(refs[i+1])})
		}
		if s.setting.Stray && i == 0 {
			o.SetAnnotations(map[string]string{reposync.DependsOn: needs(stray)})
		}
		if s.setting.Circular && i == len(refs)-1 {
			o.SetAnnotations(map[string]string{reposync.DependsOn: needs(refs[0])})
		}
		if s.setting.Held && i == 0 && sync == shop {
			o.SetFinalizers([]string{hold})
		}
		out = append(out, o)
	}
	if s.setting.Unserved {
		out = append(out, bare("example.com/v1", "Unserved", sync.Namespace, "nowhere"))
	}
	return out, nil
}

// stray is what a user has made and nobody manages, on which something that is managed depends.
var stray = history.Ref{Kind: "Secret", Namespace: shop.Namespace, Name: "ledger"}

// dependents are the managed objects that say that they depend on an object.
func (s Setting) dependents(on history.Ref) (out []history.Ref) {
	if s.Stray && on == stray {
		out = append(out, managed(shop)[0])
	}
	for _, sync := range s.Syncs {
		if i := slices.Index(managed(sync), on); i > 0 && i <= s.Chain {
			out = append(out, managed(sync)[i-1])
		}
	}
	return out
}

// bare is an object with nothing in it.
func bare(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
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
