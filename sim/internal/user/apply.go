package user

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serverSideManager is the name under which ApplyServerSide owns fields (kubectl's
// fieldManagerServerSideApply).
const serverSideManager = "kubectl"

// lastApplied is the object that Apply sent last under a name, without what Apply leaves alone.
type lastApplied struct {
	uid  types.UID // of the object that it was sent to; "" for one that was there before
	json []byte
}

// errGone says that an object disappeared after it was read.
var errGone = errors.New("the object disappeared between the read and the write")

// keptByServer are the fields of the metadata that a writer does not set.
var keptByServer = []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}

// wanted is what an object asks for: as the server reads it, without what the server itself keeps.
func (u *User) wanted(obj client.Object) (*unstructured.Unstructured, error) {
	gvk, err := u.GroupVersionKindFor(obj)
	if err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	want := (&unstructured.Unstructured{Object: content}).DeepCopy()
	want.SetGroupVersionKind(gvk)
	if want.GetName() == "" {
		return nil, errors.New("it has no name; w.Apply needs one to find the object again, " +
			"and w.Client().Create takes a generateName")
	}
	for _, field := range keptByServer {
		unstructured.RemoveNestedField(want.Object, "metadata", field)
	}
	return want, nil
}

// ApplyClientSide creates an object, or changes the one that exists as kubectl apply does.
func (u *User) ApplyClientSide(ctx context.Context, obj client.Object) error {
	want, err := u.wanted(obj)
	if err != nil {
		return err
	}
	modified, err := modifiedBy(want, obj)
	if err != nil {
		return err
	}
	id := u.id(obj)
	if _, tried := u.lastApplied[id]; !tried { // most likely it is not there yet
		u.lastApplied[id] = lastApplied{}
		if err := u.create(ctx, id, want, modified); !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	for range 20 {
		err = u.merge(ctx, id, want, modified)
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !errors.Is(err, errGone) {
			return err
		}
	}
	return fmt.Errorf("gave up after 20 conflicts: another writer or a webhook kept changing the object; "+
		"w.Settle lets the others finish first: %w", err)
}

// create creates an object and remembers it as applied.
func (u *User) create(ctx context.Context, id string, want *unstructured.Unstructured, modified []byte) error {
	made := want.DeepCopy()
	if err := u.Create(ctx, made); err != nil {
		return err
	}
	u.lastApplied[id] = lastApplied{made.GetUID(), modified}
	return nil
}

// merge creates the object, or patches the one that exists.
func (u *User) merge(ctx context.Context, id string, want *unstructured.Unstructured, modified []byte) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(want.GroupVersionKind())
	err := u.Get(ctx, client.ObjectKeyFromObject(want), live)
	if apierrors.IsNotFound(err) {
		return u.create(ctx, id, want, modified)
	}
	if err != nil {
		return err
	}
	current, err := json.Marshal(live)
	if err != nil {
		return err
	}
	var original []byte
	if last := u.lastApplied[id]; last.uid == live.GetUID() {
		original = last.json
	}
	patch, err := threeWay(want.GroupVersionKind(), original, modified, current)
	if err != nil {
		return err
	}
	if data, _ := patch.Data(live); string(data) != "{}" {
		if err := u.Patch(ctx, live, patch); apierrors.IsNotFound(err) {
			return fmt.Errorf("%w: %w", errGone, err)
		} else if err != nil {
			return err
		}
	}
	u.lastApplied[id] = lastApplied{live.GetUID(), modified}
	return nil
}

// modifiedBy is the object as kubectl would keep it in its annotation, without what Apply leaves
// alone on an object that exists. What a Go struct writes as null is not named by it.
func modifiedBy(want *unstructured.Unstructured, obj client.Object) ([]byte, error) {
	content := want.DeepCopy().Object
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "finalizers")
	unstructured.RemoveNestedField(content, "metadata", "ownerReferences")
	unstructured.RemoveNestedField(content, "metadata", "deletionTimestamp")
	unstructured.RemoveNestedField(content, "metadata", "deletionGracePeriodSeconds")
	if _, written := obj.(*unstructured.Unstructured); !written {
		dropNulls(content)
	}
	return json.Marshal(content)
}

func dropNulls(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if value == nil {
				delete(v, key)
			} else {
				dropNulls(value)
			}
		}
	case []any:
		for _, element := range v {
			dropNulls(element)
		}
	}
}

// builtinTypes are the types of which kubectl knows the struct. It is not client-go's own scheme,
// to which operators add theirs.
var builtinTypes = func() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(s)
	return s
}()

// threeWay is the patch from what was applied last, what is wanted and what is there: a strategic
// merge patch for a built-in type, and a JSON merge patch for every other.
func threeWay(gvk schema.GroupVersionKind, original, modified, current []byte) (client.Patch, error) {
	typed, err := builtinTypes.New(gvk)
	if err != nil {
		data, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
		return client.RawPatch(types.MergePatchType, data), err
	}
	schema, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil, err
	}
	data, err := strategicpatch.CreateThreeWayMergePatch(original, modified, current, schema, true)
	return client.RawPatch(types.StrategicMergePatchType, data), err
}

// ApplyServerSide applies an object as kubectl apply --server-side --force-conflicts does.
func (u *User) ApplyServerSide(ctx context.Context, obj client.Object) (err error) {
	want, err := u.wanted(obj)
	if err != nil {
		return err
	}
	delete(want.Object, "status")
	if _, written := obj.(*unstructured.Unstructured); !written {
		dropNulls(want.Object)
	}
	for range 20 { // with force a conflict is a write of another client in between
		err = u.Apply(ctx, client.ApplyConfigurationFromUnstructured(want.DeepCopy()), client.ForceOwnership,
			client.FieldOwner(serverSideManager))
		if !apierrors.IsConflict(err) {
			return err
		}
	}
	return fmt.Errorf("gave up after 20 conflicts: another writer or a webhook kept changing the object: %w", err)
}
