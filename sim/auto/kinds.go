package auto

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// kind is a kind of objects that users write.
type kind struct {
	schema.GroupVersionKind
	namespaced bool
	schema     *apiextensionsv1.JSONSchemaProps // nil for a built-in kind
	fields     []field
}

// subject is an object that users write: it exists or not, but its name is known from the start. It
// owns what users want of the object.
type subject struct {
	*kind
	namespace, name string
	sample          *unstructured.Unstructured // nil for one that is made from the schema
	given           bool                       // it exists when the scenario begins
	provided        bool                       // a program has looked for it

	settings []setting                  // set when it is made
	wanted   *unstructured.Unstructured // what was applied last; nil if it does not exist
	before   *unstructured.Unstructured // what was applied before the last change; nil if nothing was
	refusals int                        // how often the server refused to make it
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

// subjects are the objects that users write: the samples, and two of each kind that a program
// watches and that has a definition but no sample.
func (s *settings) subjects() []*subject {
	order := definedKinds(s.world)
	kinds := byKind(order)
	chosen := func(k *kind) bool { return len(s.kinds) == 0 || slices.Contains(s.kinds, k.GroupKind()) }
	var out []*subject
	sampled := map[schema.GroupKind]bool{}
	for _, obj := range s.samples() {
		sample := sampleOf(obj, kinds)
		if kinds[sample.GroupKind()] != nil && !chosen(sample.kind) {
			continue
		}
		sampled[sample.GroupKind()] = true
		out = append(out, sample)
	}
	isWatched := func(k *kind) bool { return watched(s.world.History(), k.Group, k.Kind) }
	all := len(s.kinds) > 0 || !slices.ContainsFunc(order, isWatched)
	for _, k := range order {
		if !chosen(k) || sampled[k.GroupKind()] || !all && !isWatched(k) {
			continue
		}
		for i, name := range names {
			made := &subject{kind: k, name: name, given: i == 0}
			if k.namespaced {
				made.namespace = "default"
			}
			out = append(out, made)
		}
	}
	if len(out) == 0 {
		s.world.Misuse("auto.Scenario found nothing that a user could create: call w.Install with the definitions of " +
			"your kinds before it, or give it samples by auto.Samples or auto.Objects")
	}
	return s.withApplied(out, kinds)
}

// withApplied adds the objects that the scenario has applied itself, as far as they are the
// programs' business: of a kind that a program watches, and Secrets and ConfigMaps. What a program
// needs in order to run is left alone: namespaces, and rights if one runs as a ServiceAccount.
func (s *settings) withApplied(subjects []*subject, kinds map[schema.GroupKind]*kind) []*subject {
	for _, o := range s.plain(s.world.Applied()) {
		gvk := o.GroupVersionKind()
		fixed := gvk.Group == "" && (gvk.Kind == "Namespace" || gvk.Kind == "ServiceAccount") ||
			strings.HasSuffix(gvk.Group, ".k8s.io") && (gvk.Group != rbacv1.GroupName || s.world.HasAccounts())
		if !holdsData(history.Ref{Group: gvk.Group, Kind: gvk.Kind}) &&
			(fixed || !watched(s.world.History(), gvk.Group, gvk.Kind)) {
			continue
		}
		applied := sampleOf(o, kinds)
		if slices.ContainsFunc(subjects, func(have *subject) bool { return have.ref() == applied.ref() }) {
			continue
		}
		applied.given, applied.provided, applied.wanted = false, true, o
		subjects = append(subjects, applied)
	}
	return subjects
}

// definedKinds are the kinds that have a definition.
func definedKinds(w *world.World) (out []*kind) {
	for _, crd := range w.Definitions() {
		if k := kindOf(crd); k != nil {
			out = append(out, k)
		}
	}
	return out
}

func byKind(all []*kind) map[schema.GroupKind]*kind {
	out := map[schema.GroupKind]*kind{}
	for _, k := range all {
		out[k.GroupKind()] = k
	}
	return out
}

// samples are the objects that the scenario gave.
func (s *settings) samples() (out []*unstructured.Unstructured) {
	var given []client.Object
	for _, path := range s.paths {
		found, err := s.world.Objects(path)
		if err != nil {
			s.world.Misuse("auto.Samples(%q): %v", path, err)
		}
		given = append(given, found...)
	}
	return s.plain(append(given, s.objects...))
}

// plain are objects as a manifest has them.
func (s *settings) plain(objs []client.Object) (out []*unstructured.Unstructured) {
	for _, obj := range objs {
		gvk, err := s.world.Client().GroupVersionKindFor(obj)
		if err != nil {
			s.world.Misuse("auto.Objects: %v", err)
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			s.world.Misuse("auto.Objects: %v", err)
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
func sampleOf(o *unstructured.Unstructured, kinds map[schema.GroupKind]*kind) *subject {
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
	} else {
		k = k.withSample(o)
	}
	return &subject{kind: k, namespace: o.GetNamespace(), name: o.GetName(), sample: o, given: true}
}

// withSample are the kind's fields and those of a sample: what it has where the schema allows
// anything, and once more what it sets, as often as makes it half of all. Users change above all
// what they have written.
func (k *kind) withSample(o *unstructured.Unstructured) *kind {
	var set []field
	for _, f := range k.fields {
		v := f.get(o.Object)
		free, isMap := v.(map[string]any)
		switch {
		case v == nil:
		case isMap && len(f.schema.Properties) == 0:
			set = append(set, fieldsIn(f.path, free, nil)...)
		default:
			set = append(set, f)
		}
	}
	out := *k
	if len(set) > 0 {
		out.fields = slices.Concat(k.fields, slices.Repeat(set, max(1, len(k.fields)/len(set))))
	}
	return &out
}

// replicas is the number of the field that scales the kind; -1 if there is none.
func (k *kind) replicas() int {
	return slices.IndexFunc(k.fields, func(f field) bool {
		return strings.EqualFold(f.path[len(f.path)-1], "replicas")
	})
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
