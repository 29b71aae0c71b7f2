package object

// Each version of a type, and each of its subresources, has a field manager of apimachinery's
// util/managedfields. This file tells it how objects become typed values, change version and are
// filled with defaults. Managers are made when the first object of the type is tracked, once per
// process.

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionconfigurations "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// fieldManagers are a version's field managers by subresource.
type fieldManagers struct {
	mu   sync.Mutex
	made map[string]*managedfields.FieldManager
}

func (v *Version) fieldManager(sub string) (*managedfields.FieldManager, error) {
	v.managers.mu.Lock()
	defer v.managers.mu.Unlock()
	if made := v.managers.made[sub]; made != nil {
		return made, nil
	}
	made, err := v.newFieldManager(sub)
	if err != nil {
		return nil, err
	}
	if v.managers.made == nil {
		v.managers.made = map[string]*managedfields.FieldManager{}
	}
	v.managers.made[sub] = made
	return made, nil
}

func (v *Version) newFieldManager(sub string) (*managedfields.FieldManager, error) {
	reset := fieldpath.NewExcludeFilterSetMap(v.resetFields(sub))
	own := fieldObjects{v}
	types, err := v.Type.Types()
	if err != nil {
		return nil, err
	}
	if !v.Type.Builtin {
		return managedfields.NewDefaultCRDFieldManager(types, own, own, own, v.GVK(), v.GVK().GroupVersion(), sub,
			reset)
	}
	return managedfields.NewDefaultFieldManager(types, own, own, own, v.GVK(), v.Type.Storage.GVK().GroupVersion(), sub,
		reset)
}

// builtinTypes and definitionTypes are parsed from schemas that are generated from the same source
// as the real server's; parsing them takes about a tenth of a second.
var builtinTypes = sync.OnceValues(func() (managedfields.TypeConverter, error) {
	return applyconfigurations.NewTypeConverter(scheme.Scheme), nil
})

var definitionTypes = sync.OnceValues(func() (managedfields.TypeConverter, error) {
	s := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(s); err != nil {
		return nil, err
	}
	return extensionconfigurations.NewTypeConverter(s), nil
})

// resetFields are the fields that a write through this path cannot change and so does not come to
// own: GetResetFields of the strategies under pkg/registry and in apiextensions-apiserver's
// pkg/registry/customresource.
func (v *Version) resetFields(sub string) map[fieldpath.APIVersion]*fieldpath.Set {
	if sub == "status" && !v.Type.Builtin {
		// Those of every version at once (customresource_handler.go, getStatusResetFields).
		sets := map[fieldpath.APIVersion]*fieldpath.Set{}
		for _, other := range v.Type.Versions {
			if other.Subresource("status") != nil {
				sets[fieldpath.APIVersion(other.APIVersion())] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"),
					fieldpath.MakePathOrDie("spec"))
			}
		}
		return sets
	}
	var paths []string
	switch {
	case sub == "status":
		paths = append([]string{"spec"}, v.Type.StatusResets...)
	case v.Subresource("status") != nil:
		paths = append([]string{"status"}, v.Type.Resets...)
	}
	set := fieldpath.NewSet()
	for _, path := range paths {
		set.Insert(pathOf(path))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(v.APIVersion()): set}
}

func pathOf(text string) fieldpath.Path {
	var path fieldpath.Path
	for _, name := range strings.Split(strings.TrimPrefix(text, "."), ".") {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// runtimeObject is an object as field managers take it; nil stands for one that is not there yet.
// Field managers do not change the object they compare with, but they do take the managed fields
// off the new one.
func (v *Version) runtimeObject(o *Object) runtime.Object {
	if o == nil {
		empty, _ := fieldObjects{v}.New(v.GVK())
		return empty
	}
	if o.Typed != nil {
		o.Typed.GetObjectKind().SetGroupVersionKind(o.Version.GVK())
		return o.Typed
	}
	return &unstructured.Unstructured{Object: o.Document()}
}

func managedFieldsOf(o runtime.Object) []metav1.ManagedFieldsEntry {
	m, err := meta.Accessor(o)
	if err != nil {
		return nil
	}
	return m.GetManagedFields()
}

// shallow is a copy of a built-in object whose parts are shared with it.
func shallow(o runtime.Object) runtime.Object {
	out := reflect.New(reflect.TypeOf(o).Elem())
	out.Elem().Set(reflect.ValueOf(o).Elem())
	return out.Interface().(runtime.Object)
}

// fieldObjects makes, converts and defaults the objects of a kind for field managers.
type fieldObjects struct{ v *Version }

func (f fieldObjects) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if !f.v.Type.Builtin {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u, nil
	}
	o := f.v.New()
	o.GetObjectKind().SetGroupVersionKind(f.v.GVK())
	return o, nil
}

func (f fieldObjects) Default(o runtime.Object) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		if f.v.Schema.compile() == nil {
			f.v.Schema.fillDefaults(u.Object)
		}
		return
	}
	// Objects in another form than the stored one are defaulted when they are taken into it
	// (draftOf).
	if defaults := f.v.Type.Defaults; defaults != nil && f.v.ToStored == nil {
		defaults(o)
	}
}

func (f fieldObjects) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := to.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("no conversion to %v", to)
	}
	u, untyped := in.(*unstructured.Unstructured)
	if !f.v.Type.Builtin {
		if !untyped || u.GetAPIVersion() == gv.String() {
			return in, nil
		}
		// The converter refuses versions that the definition does not have, but not as types that
		// are not there, which ownership would forget (apiextensions-apiserver's
		// pkg/apiserver/conversion/converter.go).
		if gv.Group != f.v.Type.Group {
			return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q",
				u.GroupVersionKind().String(), gv)
		}
		if !slices.ContainsFunc(f.v.Type.Versions, func(v *Version) bool { return v.Name == gv.Version }) {
			return nil, fmt.Errorf("request to convert CR to an invalid group/version: %s", gv)
		}
		// Strategy None: only the name of the version changes.
		content := maps.Clone(u.Object)
		content["apiVersion"] = gv.String()
		return &unstructured.Unstructured{Object: content}, nil
	}
	if untyped {
		typed, err := f.typedOf(u)
		if err != nil {
			return nil, err
		}
		in = typed
	}
	if in.GetObjectKind().GroupVersionKind().GroupVersion() == gv {
		return in, nil
	}
	return f.convertBuiltin(in, gv)
}

func (f fieldObjects) typedOf(u *unstructured.Unstructured) (runtime.Object, error) {
	var made runtime.Object
	switch gvk := u.GroupVersionKind(); gvk {
	case f.v.GVK():
		made = f.v.New()
	case f.v.Type.Storage.GVK():
		made = f.v.Type.Storage.New()
	default:
		return nil, runtime.NewNotRegisteredErrForKind("", gvk)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, made); err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %v: %w", u.GroupVersionKind(), err)
	}
	made.GetObjectKind().SetGroupVersionKind(u.GroupVersionKind())
	return made, nil
}

// convertBuiltin is for the one type that is served in two forms.
func (f fieldObjects) convertBuiltin(in runtime.Object, gv schema.GroupVersion) (runtime.Object, error) {
	switch {
	case f.v.FromStored != nil && gv == f.v.GVK().GroupVersion():
		out := f.v.FromStored(in)
		out.GetObjectKind().SetGroupVersionKind(f.v.GVK())
		return out, nil
	case f.v.ToStored != nil && gv == f.v.Type.Storage.GVK().GroupVersion():
		out := f.v.ToStored(in)
		out.GetObjectKind().SetGroupVersionKind(f.v.Type.Storage.GVK())
		return out, nil
	}
	return nil, runtime.NewNotRegisteredErrForKind("", gv.WithKind(f.v.Type.Kind))
}

// Convert implements [runtime.ObjectConvertor]; field managers do not use it.
func (fieldObjects) Convert(_, _, _ any) error {
	return fmt.Errorf("not needed")
}

// ConvertFieldLabel implements [runtime.ObjectConvertor]; field managers do not use it.
func (fieldObjects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
