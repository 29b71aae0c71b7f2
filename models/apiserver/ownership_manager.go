package apiserver

// One field manager of apimachinery's util/managedfields for each version of a type and each of its subresources, with
// what it needs to know of the model: how objects become typed values, change version and are filled with defaults.
// They are made when the first object of the type is tracked, once per process.

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

func (v *version) fieldManager(sub string) (*managedfields.FieldManager, error) {
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

func (v *version) newFieldManager(sub string) (*managedfields.FieldManager, error) {
	reset := fieldpath.NewExcludeFilterSetMap(v.resetFields(sub))
	own := fieldObjects{v}
	types, err := v.kind.types()
	if err != nil {
		return nil, err
	}
	if !v.kind.builtin {
		return managedfields.NewDefaultCRDFieldManager(types, own, own, own, v.gvk(), v.gvk().GroupVersion(), sub, reset)
	}
	return managedfields.NewDefaultFieldManager(types, own, own, own, v.gvk(), v.kind.storage.gvk().GroupVersion(), sub, reset)
}

// builtinTypes and definitionTypes are parsed from schemas that are generated from the same source as the real server's;
// parsing them takes about a tenth of a second.
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

// resetFields are the fields that a write through this path cannot change and so does not come to own: GetResetFields of
// the strategies under pkg/registry and in apiextensions-apiserver's pkg/registry/customresource.
func (v *version) resetFields(sub string) map[fieldpath.APIVersion]*fieldpath.Set {
	if sub == "status" && !v.kind.builtin {
		// Those of every version at once (customresource_handler.go, getStatusResetFields).
		sets := map[fieldpath.APIVersion]*fieldpath.Set{}
		for _, other := range v.kind.versions {
			if other.subresource("status") != nil {
				sets[fieldpath.APIVersion(other.apiVersion())] = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
			}
		}
		return sets
	}
	var paths []string
	switch {
	case sub == "status":
		paths = append([]string{"spec"}, v.kind.statusResets...)
	case v.subresource("status") != nil:
		paths = append([]string{"status"}, v.kind.resets...)
	}
	set := fieldpath.NewSet()
	for _, path := range paths {
		set.Insert(pathOf(path))
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{fieldpath.APIVersion(v.apiVersion()): set}
}

func pathOf(text string) fieldpath.Path {
	var path fieldpath.Path
	for _, name := range strings.Split(strings.TrimPrefix(text, "."), ".") {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}

// runtimeObject is an object as field managers take it; nil stands for one that is not there yet. Field managers do not
// change the object they compare with, but they do take the managed fields off the new one.
func (v *version) runtimeObject(o *object) runtime.Object {
	if o == nil {
		empty, _ := fieldObjects{v}.New(v.gvk())
		return empty
	}
	if o.typed != nil {
		o.typed.GetObjectKind().SetGroupVersionKind(o.ver.gvk())
		return o.typed
	}
	return &unstructured.Unstructured{Object: o.document()}
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
type fieldObjects struct{ v *version }

// New implements [runtime.ObjectCreater].
func (f fieldObjects) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	if !f.v.kind.builtin {
		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		return u, nil
	}
	o := f.v.newObject()
	o.GetObjectKind().SetGroupVersionKind(f.v.gvk())
	return o, nil
}

// Default implements [runtime.ObjectDefaulter].
func (f fieldObjects) Default(o runtime.Object) {
	if u, ok := o.(*unstructured.Unstructured); ok {
		if f.v.schema.compile() == nil {
			f.v.schema.fillDefaults(u.Object)
		}
		return
	}
	// Objects in another form than the stored one are defaulted when they are taken into it (draftOf).
	if defaults := f.v.kind.defaults; defaults != nil && f.v.stored == nil {
		defaults(o)
	}
}

// ConvertToVersion implements [runtime.ObjectConvertor].
func (f fieldObjects) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	gv, ok := to.(schema.GroupVersion)
	if !ok {
		return nil, fmt.Errorf("no conversion to %v", to)
	}
	u, untyped := in.(*unstructured.Unstructured)
	if !f.v.kind.builtin {
		if !untyped || u.GetAPIVersion() == gv.String() {
			return in, nil
		}
		// The converter refuses versions that the definition does not have, but not as types that are not there, which
		// ownership would forget (apiextensions-apiserver's pkg/apiserver/conversion/converter.go).
		if gv.Group != f.v.kind.group {
			return nil, fmt.Errorf("%v is unstructured and is not suitable for converting to %q", u.GroupVersionKind().String(), gv)
		}
		if !slices.ContainsFunc(f.v.kind.versions, func(v *version) bool { return v.name == gv.Version }) {
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
	case f.v.gvk():
		made = f.v.newObject()
	case f.v.kind.storage.gvk():
		made = f.v.kind.storage.newObject()
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
	case f.v.converted != nil && gv == f.v.gvk().GroupVersion():
		out := f.v.converted(in)
		out.GetObjectKind().SetGroupVersionKind(f.v.gvk())
		return out, nil
	case f.v.stored != nil && gv == f.v.kind.storage.gvk().GroupVersion():
		out := f.v.stored(in)
		out.GetObjectKind().SetGroupVersionKind(f.v.kind.storage.gvk())
		return out, nil
	}
	return nil, runtime.NewNotRegisteredErrForKind("", gv.WithKind(f.v.kind.kind))
}

// Convert implements [runtime.ObjectConvertor]; field managers do not use it.
func (fieldObjects) Convert(_, _, _ any) error {
	return fmt.Errorf("not needed")
}

// ConvertFieldLabel implements [runtime.ObjectConvertor]; field managers do not use it.
func (fieldObjects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
