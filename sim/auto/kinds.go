package auto

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
)

// kind is a kind of objects that users write.
type kind struct {
	schema.GroupVersionKind
	namespaced bool
	schema     *apiextensionsv1.JSONSchemaProps // nil for a built-in kind
	fields     []field
}

// subject is an object that users write: it exists or not, but its name is known from the start.
type subject struct {
	*kind
	namespace, name string
	sample          *unstructured.Unstructured // nil for one that is made from the schema
	given           bool                       // it exists when the scenario begins
	provided        bool                       // a program has looked for it
}

// String names the subject.
func (s *subject) String() string {
	if s.namespace == "" {
		return s.Kind + " " + s.name
	}
	return s.Kind + " " + s.namespace + "/" + s.name
}

// kindOf is the kind of a definition, in the version that it is stored in.
func kindOf(crd *apiextensionsv1.CustomResourceDefinition) *kind {
	for _, v := range crd.Spec.Versions {
		if !v.Storage || !v.Served || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		return &kind{
			GroupVersionKind: schema.GroupVersionKind{
				Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind,
			},
			namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
			schema:     v.Schema.OpenAPIV3Schema, fields: fieldsOf(v.Schema.OpenAPIV3Schema),
		}
	}
	return nil
}

// watched reports whether a program under test watches objects of a kind.
func watched(h *history.History, group, kind string) bool {
	return slices.ContainsFunc(h.Events, func(e history.Event) bool {
		return e.Kind == history.Request && e.Verb == "watch" && e.Incarnation > 0 && e.Ref.Kind == kind &&
			e.Ref.Group == group
	})
}

// subjectsOf are the objects that users write: the samples, and two of each kind that a program
// watches and that has a definition but no sample.
func (u *users) subjectsOf() []*subject {
	kinds := map[schema.GroupKind]*kind{}
	var order []*kind
	for _, crd := range u.world.Definitions() {
		if k := kindOf(crd); k != nil {
			kinds[k.GroupKind()] = k
			order = append(order, k)
		}
	}
	var out []*subject
	sampled := map[schema.GroupKind]bool{}
	for _, obj := range u.samples() {
		s := u.sampleOf(obj, kinds)
		if len(u.kinds) > 0 && kinds[s.GroupKind()] != nil && !slices.Contains(u.kinds, s.GroupKind()) {
			continue
		}
		sampled[s.GroupKind()] = true
		out = append(out, s)
	}
	isWatched := func(k *kind) bool { return watched(u.world.History(), k.Group, k.Kind) }
	all := !slices.ContainsFunc(order, isWatched)
	for _, k := range order {
		if len(u.kinds) > 0 && !slices.Contains(u.kinds, k.GroupKind()) {
			continue
		}
		if sampled[k.GroupKind()] || len(u.kinds) == 0 && !all && !isWatched(k) {
			continue
		}
		for i, name := range names {
			s := &subject{kind: k, name: name, given: i == 0}
			if k.namespaced {
				s.namespace = "default"
			}
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		u.world.Misuse("auto.Scenario found nothing that a user could create: call w.Install with the definitions of " +
			"your kinds before it, or give it samples by auto.Samples or auto.Objects")
	}
	return out
}

// takeOver makes subjects of the objects that the scenario has applied itself, as far as they are
// the programs' business: of a kind that a program watches, and Secrets and ConfigMaps. What a
// program needs in order to run is left alone: namespaces and rights.
func (u *users) takeOver() {
	h := u.world.History()
	for _, o := range u.plain(u.world.Applied()) {
		gvk := o.GroupVersionKind()
		fixed := gvk.Group == "" && (gvk.Kind == "Namespace" || gvk.Kind == "ServiceAccount") ||
			strings.HasSuffix(gvk.Group, ".k8s.io")
		if !holdsData(history.Ref{Group: gvk.Group, Kind: gvk.Kind}) && (fixed || !watched(h, gvk.Group, gvk.Kind)) {
			continue
		}
		s := u.sampleOf(o, u.byKind())
		if slices.ContainsFunc(u.subjects, func(have *subject) bool { return have.ref() == s.ref() }) {
			continue
		}
		s.given, s.provided = false, true
		u.wanted[len(u.subjects)] = o
		u.subjects = append(u.subjects, s)
	}
}

// byKind are the kinds that have a definition.
func (u *users) byKind() map[schema.GroupKind]*kind {
	out := map[schema.GroupKind]*kind{}
	for _, crd := range u.world.Definitions() {
		if k := kindOf(crd); k != nil {
			out[k.GroupKind()] = k
		}
	}
	return out
}

// samples are the objects that the scenario gave.
func (u *users) samples() (out []*unstructured.Unstructured) {
	var given []client.Object
	for _, path := range u.paths {
		found, err := u.world.Objects(path)
		if err != nil {
			u.world.Misuse("auto.Samples(%q): %v", path, err)
		}
		given = append(given, found...)
	}
	return u.plain(append(given, u.objects...))
}

// plain are objects as a manifest has them.
func (u *users) plain(objs []client.Object) (out []*unstructured.Unstructured) {
	for _, obj := range objs {
		gvk, err := u.world.Client().GroupVersionKindFor(obj)
		if err != nil {
			u.world.Misuse("auto.Objects: %v", err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			u.world.Misuse("auto.Objects: %v", err)
		}
		o := (&unstructured.Unstructured{Object: content}).DeepCopy()
		o.SetGroupVersionKind(gvk)
		for _, kept := range []string{"creationTimestamp", "uid", "resourceVersion", "generation", "managedFields"} {
			unstructured.RemoveNestedField(o.Object, "metadata", kept)
		}
		delete(o.Object, "status")
		out = append(out, o)
	}
	return out
}

// sampleOf makes a subject of a sample.
func (u *users) sampleOf(o *unstructured.Unstructured, kinds map[schema.GroupKind]*kind) *subject {
	gvk := o.GroupVersionKind()
	k := kinds[gvk.GroupKind()]
	if k == nil {
		k = &kind{GroupVersionKind: gvk, fields: fieldsIn(nil, o.Object, nil)}
		if gvk.Kind == "ConfigMap" { // which keys it has is its users' business
			k.fields = append(k.fields, field{path: []string{"data", "key"}, sample: ""})
		}
		for i := range k.fields {
			k.fields[i].secret = gvk.Kind == "Secret" && k.fields[i].path[0] == "data"
		}
	}
	return &subject{kind: k, namespace: o.GetNamespace(), name: o.GetName(), sample: o, given: true}
}

// replicas is the field that scales the kind, and whether there is one.
func (k *kind) replicas() (field, bool) {
	for _, f := range k.fields {
		if strings.EqualFold(f.path[len(f.path)-1], "replicas") {
			return f, true
		}
	}
	return field{}, false
}

// object is the manifest of the subject: its sample, or its name and what its kind requires.
func (s *subject) object() *unstructured.Unstructured {
	if s.sample != nil {
		return s.sample.DeepCopy()
	}
	o := &unstructured.Unstructured{Object: required(s.schema)}
	delete(o.Object, "status")
	delete(o.Object, "metadata")
	o.SetGroupVersionKind(s.GroupVersionKind)
	o.SetName(s.name)
	if s.namespace != "" {
		o.SetNamespace(s.namespace)
	}
	return o
}
