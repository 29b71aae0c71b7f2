package versions_test

import (
	"reflect"
	"testing"

	"golang.org/x/mod/semver"
	storagev1 "k8s.io/api/storage/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/internal/versions"
)

const runtimePath = "sigs.k8s.io/controller-runtime"

func TestModule(t *testing.T) {
	if v := versions.Module(runtimePath, ctrl.NewManager); !semver.IsValid(v) {
		t.Errorf("controller-runtime has version %q; versions.Module reads it from the path of a source file", v)
	}
	if v := versions.Module("k8s.io/client-go", cache.NewSharedIndexInformer); !semver.IsValid(v) {
		t.Errorf("client-go has version %q; versions.Module reads it from the path of a source file", v)
	}
}

type ownChecker struct {
	cache.SharedIndexInformer
	versions.DoneChecker
}

func (o ownChecker) Checker() versions.DoneChecker { return o.DoneChecker }

type own struct{}

func (own) Name() string          { return "own" }
func (own) Done() <-chan struct{} { return nil }

func TestWithChecker(t *testing.T) {
	inner := cache.NewSharedIndexInformer(&cache.ListWatch{}, &storagev1.CSIDriver{}, 0, nil)
	in := versions.WithChecker(ownChecker{inner, own{}})
	method, there := reflect.TypeFor[cache.SharedIndexInformer]().MethodByName("HasSyncedChecker")
	if !there {
		return // client-go 0.35: there is no such method to override
	}
	results := reflect.ValueOf(in).MethodByName(method.Name).Call(nil)
	if c, is := results[0].Interface().(versions.DoneChecker); !is || c.Name() != "own" {
		t.Errorf("HasSyncedChecker of a wrapped informer returns %v, not the checker of the wrapper. "+
			"See the probe in internal/versions/synced.go", results[0])
	}
}

func TestReadYourWrites(t *testing.T) {
	version := versions.Module(runtimePath, ctrl.NewManager)
	var o client.CacheOptions
	has, expected := versions.ReadYourWrites(&o), semver.Compare(version, "v0.25.0-0") >= 0
	if has != expected {
		t.Errorf("controller-runtime %s: client.CacheOptions.EnableReadYourWritesConsistency is there: %v; "+
			"expected %v. If the field has another name now, set that one in versions.ReadYourWrites",
			version, has, expected)
	}
}

func TestDefaultCSIDriver(t *testing.T) {
	version := versions.Module("k8s.io/api", (*storagev1.CSIDriver).DeepCopy)
	has, expected := versions.DefaultCSIDriver(&storagev1.CSIDriverSpec{}), semver.Compare(version, "v0.36.0-0") >= 0
	if has != expected {
		t.Errorf("k8s.io/api %s: CSIDriverSpec.PreventPodSchedulingIfMissing is there: %v; expected %v. "+
			"If the field has another name now, set that one in versions.DefaultCSIDriver", version, has, expected)
	}
}

func TestSetVersionedObject(t *testing.T) {
	o := &metav1.PartialObjectMetadata{}
	o.Name = "x"
	var v admission.VersionedAttributes
	versions.SetVersionedObject(&v.VersionedObject, o)
	if got := v.GetObject(); got != o {
		t.Errorf("admission.VersionedAttributes returns %v for the object that was set. "+
			"If VersionedObject has another type now, add a case to versions.SetVersionedObject", got)
	}
}

func TestValidateEmbedded(t *testing.T) {
	s := &structural.Structural{Properties: map[string]structural.Structural{
		"inner": {Extensions: structural.Extensions{XEmbeddedResource: true}},
	}}
	errs := versions.ValidateEmbedded(map[string]any{"inner": map[string]any{"apiVersion": "v1"}}, s)
	if len(errs) != 1 || errs[0].Field != "inner.kind" {
		t.Errorf("an embedded object without a kind has the errors %v; expected one at inner.kind. "+
			"If objectmeta.Validate has another signature now, add a case to versions.ValidateEmbedded", errs)
	}
}
