package apiserver

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// Mapper returns a RESTMapper that answers from the server's registry and makes no request. It
// looks at the time of each call, so it knows definitions that are installed later.
func (s *Server) Mapper() meta.RESTMapper { return &mapper{s: s} }

type mapper struct{ s *Server }

// versionsOf yields the served versions of the kinds that fit; group "" stands for any group when
// anyGroup is set.
func (m *mapper) find(fits func(*registry.Kind) bool, wanted string) []*object.Version {
	var out []*object.Version
	look := func(k *registry.Kind) bool {
		for _, v := range k.Versions {
			if fits(k) && v.Served && (wanted == "" || wanted == v.Name) {
				out = append(out, v)
			}
		}
		return true
	}
	m.s.registry.All(look)
	for _, k := range registry.Reviews().Order {
		look(k)
	}
	return out
}

func (m *mapper) byResource(r schema.GroupVersionResource) []*object.Version {
	return m.find(func(k *registry.Kind) bool {
		if r.Group != "" && r.Group != k.Group {
			return false
		}
		return r.Resource == k.Plural || r.Resource == k.Singular
	}, r.Version)
}

// KindFor returns the kind of a resource whose group and version may be left out.
func (m *mapper) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	kinds, err := m.KindsFor(resource)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	return kinds[0], nil
}

// KindsFor returns the kinds of a resource, the preferred one first.
func (m *mapper) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	var out []schema.GroupVersionKind
	for _, v := range m.byResource(resource) {
		out = append(out, v.GVK())
	}
	if len(out) == 0 {
		return nil, &meta.NoResourceMatchError{PartialResource: resource}
	}
	return out, nil
}

// ResourceFor completes a resource whose group and version may be left out.
func (m *mapper) ResourceFor(resource schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	all, err := m.ResourcesFor(resource)
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	return all[0], nil
}

// ResourcesFor completes a resource, the preferred answer first.
func (m *mapper) ResourcesFor(resource schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	var out []schema.GroupVersionResource
	for _, v := range m.byResource(resource) {
		out = append(out, v.GVR())
	}
	if len(out) == 0 {
		return nil, &meta.NoResourceMatchError{PartialResource: resource}
	}
	return out, nil
}

// RESTMapping returns how to reach a kind; versions are in order of preference.
func (m *mapper) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	all, err := m.RESTMappings(gk, versions...)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// RESTMappings returns all ways to reach a kind.
func (m *mapper) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	if len(versions) == 0 {
		versions = []string{""}
	}
	var out []*meta.RESTMapping
	for _, wanted := range versions {
		for _, v := range m.find(func(k *registry.Kind) bool { return k.Group == gk.Group && k.Kind == gk.Kind },
			wanted) {
			out = append(out, mapping(v))
		}
		for _, v := range m.find(func(k *registry.Kind) bool { return k.Group == gk.Group && k.List == gk.Kind },
			wanted) {
			out = append(out, listMapping(v))
		}
	}
	if len(out) == 0 {
		return nil, &meta.NoKindMatchError{GroupKind: gk, SearchedVersions: versions}
	}
	return out, nil
}

func mapping(v *object.Version) *meta.RESTMapping {
	scope := meta.RESTScopeRoot
	if v.Type.Namespaced {
		scope = meta.RESTScopeNamespace
	}
	return &meta.RESTMapping{Resource: v.GVR(), GroupVersionKind: v.GVK(), Scope: scope}
}

// listMapping is how client-go's discovery mapper knows a list: as a kind of its own, with a
// resource made up from its name (restmapper/discovery.go). Caches of several namespaces ask for
// it.
func listMapping(v *object.Version) *meta.RESTMapping {
	m := mapping(v)
	m.GroupVersionKind.Kind = v.Type.List
	m.Resource, _ = meta.UnsafeGuessKindToResource(m.GroupVersionKind)
	return m
}

// ResourceSingularizer returns the singular name of a resource.
func (m *mapper) ResourceSingularizer(resource string) (string, error) {
	for k := range m.s.registry.All {
		if k.Plural == resource {
			return k.Singular, nil
		}
	}
	return resource, nil
}
