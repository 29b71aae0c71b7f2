// Package versions holds what differs between the versions of controller-runtime and Kubernetes
// that Wavetank supports, from controller-runtime 0.23 with k8s.io 0.35 to 0.25 with 0.37.
//
// Go has no build constraint on the version of a module. So a field that an older version lacks is
// set by reflection, and a function that it lacks is not called at all. Where a type or a signature
// has changed, the code asks which one it has. The tests say what to do when that no longer works.
package versions

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Module returns the version of the module with that path, of which a function is given. A test
// binary carries no list of its modules, but the source path of a function names the version. It is
// empty for a vendored or replaced module.
func Module(path string, function any) string {
	pc := reflect.ValueOf(function).Pointer()
	file, _ := runtime.FuncForPC(pc).FileLine(pc)
	_, rest, _ := strings.Cut(file, path+"@")
	version, _, _ := strings.Cut(rest, "/")
	return version
}

// ReadYourWrites makes a client wait until its cache has seen what it wrote. The options are a
// *client.CacheOptions, whose field EnableReadYourWritesConsistency came with controller-runtime
// 0.25. It returns false if this version lacks the field.
func ReadYourWrites(cacheOptions any) bool {
	return setBool(cacheOptions, "EnableReadYourWritesConsistency", true)
}

// DefaultCSIDriver sets PreventPodSchedulingIfMissing, which is there from k8s.io/api 0.36 on.
func DefaultCSIDriver(spec *storagev1.CSIDriverSpec) bool {
	return setBool(spec, "PreventPodSchedulingIfMissing", false)
}

// setBool sets a field of a struct that is a *bool, if it is there and nil.
func setBool(pointer any, name string, value bool) (there bool) {
	f := reflect.ValueOf(pointer).Elem().FieldByName(name)
	if f.IsValid() && f.IsNil() {
		f.Set(reflect.ValueOf(&value))
	}
	return f.IsValid()
}

// SetVersionedObject sets a field of admission.VersionedAttributes, to which it is given a pointer.
// The field is a runtime.Object before k8s.io/apiserver 0.37, and wraps one from then on.
func SetVersionedObject(pointer any, o kruntime.Object) {
	switch p := pointer.(type) {
	case *kruntime.Object:
		*p = o
	case interface{ Set(kruntime.Object) }:
		p.Set(o)
	default:
		panic(fmt.Sprintf("wavetank: k8s.io/apiserver has a versioned object of type %T; "+
			"use k8s.io v0.37, or update internal/versions", pointer))
	}
}

// ValidateEmbedded checks the types and metadata of the objects that a custom object contains. The
// function of apiextensions-apiserver takes a context from 0.37 on.
func ValidateEmbedded(content map[string]any, s *structural.Structural) field.ErrorList {
	switch validate := any(objectmeta.Validate).(type) {
	case func(*field.Path, any, *structural.Structural, bool) field.ErrorList:
		return validate(nil, content, s, false)
	case func(context.Context, *field.Path, any, *structural.Structural, bool) field.ErrorList:
		return validate(context.Background(), nil, content, s, false)
	default:
		panic(fmt.Sprintf("wavetank: objectmeta.Validate of k8s.io/apiextensions-apiserver is a %T; "+
			"use k8s.io v0.37, or update internal/versions", validate))
	}
}
