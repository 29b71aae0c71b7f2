package upstream

import (
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

var garbage = []controller{{"garbage-collector-controller",
	func(w *sim.World, name string) { w.Run(name, garbageCollector) }}}

// family is a world in which objects own each other.
type family struct{ *sim.World }

func (f family) object(kind, namespace, name string) *unstructured.Unstructured {
	version := map[string]string{"ClusterRole": "rbac.authorization.k8s.io/v1", "Widget": "x.example/v1"}[kind]
	if version == "" {
		version = "v1"
	}
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}

// make creates an object in the namespace shop and returns a reference to it.
func (f family) make(kind, name string, owners ...metav1.OwnerReference) metav1.OwnerReference {
	namespace := "shop"
	if kind == "ClusterRole" {
		namespace = ""
	}
	return f.makeIn(namespace, kind, name, owners...)
}

func (f family) makeIn(namespace, kind, name string, owners ...metav1.OwnerReference) metav1.OwnerReference {
	o := f.object(kind, namespace, name)
	o.SetOwnerReferences(owners)
	if err := f.Client().Create(f.Context(), o); err != nil {
		panic(err)
	}
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: kind, Name: name, UID: o.GetUID()}
}

// hold puts a finalizer on an object of the namespace shop.
func (f family) hold(kind, name, finalizer string) {
	f.patch(kind, name, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
}

func (f family) patch(kind, name, patch string) {
	if err := f.Client().Patch(f.Context(), f.object(kind, "shop", name),
		client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		panic(err)
	}
}

// delete deletes an object, and gives the collector time.
func (f family) delete(kind, name string, policy metav1.DeletionPropagation) {
	namespace := "shop"
	if kind == "ClusterRole" {
		namespace = ""
	}
	if err := f.Client().Delete(f.Context(), f.object(kind, namespace, name),
		client.PropagationPolicy(policy)); err != nil {
		panic(err)
	}
	f.Sleep(30 * time.Second)
}

func blocking(r metav1.OwnerReference) metav1.OwnerReference {
	r.BlockOwnerDeletion = new(true)
	return r
}

const (
	background = metav1.DeletePropagationBackground
	foreground = metav1.DeletePropagationForeground
	orphan     = metav1.DeletePropagationOrphan
)

var lives = map[string]func(family){
	"background": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("Secret", "grandchild", f.make("ConfigMap", "child", root))
		f.delete("ConfigMap", "root", background)
	},
	"foreground with something that blocks": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("ConfigMap", "loose", root)
		held := f.make("Secret", "held", blocking(root))
		f.hold("Secret", "held", "x.example/one")
		f.make("Secret", "inner", blocking(held))
		f.delete("ConfigMap", "root", foreground)
	},
	"foreground with something that blocks for a while": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("Secret", "held", blocking(root))
		f.hold("Secret", "held", "x.example/one")
		f.delete("ConfigMap", "root", foreground)
		f.patch("Secret", "held", `{"metadata":{"finalizers":null}}`)
		f.Sleep(time.Minute)
	},
	"foreground with something that stops blocking": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("Secret", "held", blocking(root))
		f.hold("Secret", "held", "x.example/one")
		f.delete("ConfigMap", "root", foreground)
		f.patch("Secret", "held", `{"metadata":{"ownerReferences":null}}`)
		f.Sleep(time.Minute)
	},
	"foreground with something that does not block": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("Secret", "held", root)
		f.hold("Secret", "held", "x.example/one")
		f.delete("ConfigMap", "root", foreground)
	},
	"orphan": func(f family) {
		root, other := f.make("ConfigMap", "root"), f.make("ConfigMap", "other")
		f.make("Secret", "one", root)
		f.make("Secret", "two", blocking(root), other)
		f.delete("ConfigMap", "root", orphan)
	},
	"two owners, one deleted in the background": func(f family) {
		a, b := f.make("ConfigMap", "a"), f.make("ConfigMap", "b")
		f.make("Secret", "child", a, b)
		f.delete("ConfigMap", "a", background)
	},
	"two owners, one deleted in the foreground": func(f family) {
		a, b := f.make("ConfigMap", "a"), f.make("ConfigMap", "b")
		f.make("Secret", "child", blocking(a), b)
		f.delete("ConfigMap", "a", foreground)
	},
	"an owner that never was": func(f family) {
		root := f.make("ConfigMap", "root")
		root.UID = "11111111-1111-1111-1111-111111111111"
		f.make("Secret", "child", root)
	},
	"an owner that came again": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("Secret", "child", root)
		f.delete("ConfigMap", "root", background)
		f.make("ConfigMap", "root")
	},
	"an owner in another namespace": func(f family) {
		f.make("Secret", "child", f.makeIn("default", "ConfigMap", "root"))
	},
	"two owners in another namespace": func(f family) {
		f.make("Secret", "child", f.makeIn("default", "ConfigMap", "one"), f.makeIn("default", "ConfigMap", "two"))
	},
	"an owner of another kind, then one in another namespace": func(f family) {
		root := f.make("ConfigMap", "root")
		root.Kind = "Secret"
		f.make("Secret", "child", root, f.makeIn("default", "ConfigMap", "two"))
	},
	"an owner by two names": func(f family) {
		root := f.make("ConfigMap", "root")
		other := root
		other.Name = "other"
		f.make("Secret", "child", root, other)
	},
	"an owner that is renamed": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("Secret", "child", root)
		f.patch("Secret", "child", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap",`+
			`"name":"other","uid":"`+string(root.UID)+`"}]}}`)
		f.Sleep(time.Minute)
		f.delete("ConfigMap", "root", background)
	},
	"an owner of itself": func(f family) {
		a := f.make("ConfigMap", "a")
		f.patch("ConfigMap", "a", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a",`+
			`"uid":"`+string(a.UID)+`","blockOwnerDeletion":true}]}}`)
		f.delete("ConfigMap", "a", foreground)
	},
	"an owner at a version that is not served": func(f family) {
		root := f.make("Widget", "root")
		root.APIVersion = "x.example/v1beta1"
		f.make("Secret", "child", root)
		f.delete("Widget", "root", background)
	},
	"an owner without namespace": func(f family) {
		role := f.make("ClusterRole", "role")
		f.make("Secret", "child", role)
		f.delete("ClusterRole", "role", background)
	},
	"an owner with a namespace of something without": func(f family) {
		root := f.make("ConfigMap", "root")
		f.make("ClusterRole", "real", root)
		root.UID, root.Name = "11111111-1111-1111-1111-111111111111", "nobody"
		f.make("ClusterRole", "absent", root)
	},
	"an owner of a type that is not served": func(f family) {
		f.make("Secret", "child",
			metav1.OwnerReference{APIVersion: "y.example/v1", Kind: "Gadget", Name: "g", UID: "1"})
	},
	"owners in a circle": func(f family) {
		a := f.make("ConfigMap", "a")
		b := f.make("ConfigMap", "b", blocking(a))
		f.patch("ConfigMap", "a", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"b",`+
			`"uid":"`+string(b.UID)+`","blockOwnerDeletion":true}]}}`)
		f.delete("ConfigMap", "a", foreground)
	},
	"a dependent that orphans its own": func(f family) {
		middle := f.make("ConfigMap", "middle", f.make("ConfigMap", "root"))
		f.hold("ConfigMap", "middle", "orphan")
		f.make("Secret", "child", blocking(middle))
		f.delete("ConfigMap", "root", background)
	},
	"custom resources": func(f family) {
		root := f.make("Widget", "root")
		f.make("Secret", "leaf", blocking(f.make("Widget", "inner", blocking(root))))
		f.make("Widget", "stays", f.make("Widget", "other"), root)
		f.delete("Widget", "root", foreground)
	},
}

func widgets() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "widgets.x.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "x.example", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Singular: "widget", Kind: "Widget",
				ListKind: "WidgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{
					OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}}},
		}}
}

func TestGarbage(t *testing.T) {
	for name, life := range lives {
		t.Run(name, func(t *testing.T) {
			same(t, garbage, func(w *sim.World) {
				w.Install(widgets())
				w.Apply(shop())
				w.Sleep(31 * time.Second) // the real collector looks for types every 30 s
				life(family{w})
				w.Sleep(time.Minute)
			})
		})
	}
}
