package registry

import (
	"encoding/json"
	"slices"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Prepared is a definition made ready to install: defaulted, checked, established and encoded. A
// process prepares each definition once and every world installs it by copying bytes, because
// worlds are made by the thousand.
type Prepared struct {
	typed *apiextensionsv1.CustomResourceDefinition
	Spec  []byte
	Kind  *Kind
	Err   error
}

// pointed is what was prepared for the definition behind a pointer. The versions guard against one
// that was given another schema since.
type pointed struct {
	versions []apiextensionsv1.CustomResourceDefinitionVersion
	*Prepared
}

var preparedDefinitions = struct {
	sync.Mutex
	byPointer map[*apiextensionsv1.CustomResourceDefinition]pointed
	byText    map[string]*Prepared
}{byPointer: map[*apiextensionsv1.CustomResourceDefinition]pointed{}, byText: map[string]*Prepared{}}

// maxPointers limits what is known by its pointer: a test that makes new definitions for each run
// has another pointer each time.
const maxPointers = 300

// Prepare makes a definition ready to install.
func Prepare(crd *apiextensionsv1.CustomResourceDefinition) *Prepared {
	known := &preparedDefinitions
	known.Lock()
	defer known.Unlock()
	if p := known.byPointer[crd]; p.Prepared != nil && p.fits(crd) {
		return p.Prepared
	}
	if len(known.byPointer) >= maxPointers {
		clear(known.byPointer)
	}
	text := EncodeDefinition(crd)
	p := known.byText[string(text)]
	if p == nil {
		p = prepareText(text)
		known.byText[string(text)] = p
	}
	known.byPointer[crd] = pointed{slices.Clone(crd.Spec.Versions), p}
	return p
}

func prepareText(text []byte) *Prepared {
	p := &Prepared{}
	k := Definitions()
	draft := object.DraftOf(DecodeDefinition(text), k.Storage)
	p.typed = draft.Typed.(*apiextensionsv1.CustomResourceDefinition)
	p.typed.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	noteStoredVersion(p.typed)
	for !Established(p.typed) {
		Establish(p.typed, metav1.Time{})
	}
	meta := draft.Meta
	meta.ResourceVersion, meta.ManagedFields, meta.Generation = "", nil, 1
	meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = nil, nil
	if errs := k.ValidateCreate(draft); len(errs) > 0 {
		p.Err = apierrors.NewInvalid(k.GroupKind(), meta.Name, errs)
		return p
	}
	if p.Spec, p.Err = json.Marshal(&p.typed.Spec); p.Err == nil {
		p.Kind = KindOfDefinition(p.typed)
	}
	return p
}

// EncodeDefinition and received take a definition to a server: what a Go value can say and JSON
// cannot is gone then, such as additionalProperties that have a schema and are not allowed.
func EncodeDefinition(crd *apiextensionsv1.CustomResourceDefinition) []byte {
	text, err := json.Marshal(crd)
	if err != nil {
		panic("apiserver: a definition that cannot be encoded: " + err.Error())
	}
	return text
}

// DecodeDefinition reads a definition that EncodeDefinition has written.
func DecodeDefinition(text []byte) *apiextensionsv1.CustomResourceDefinition {
	out := &apiextensionsv1.CustomResourceDefinition{}
	if err := json.Unmarshal(text, out); err != nil {
		panic("apiserver: a definition that cannot be decoded: " + err.Error())
	}
	return out
}

// fits notices the replacement of a schema, not a change deep inside one.
func (p pointed) fits(crd *apiextensionsv1.CustomResourceDefinition) bool {
	if len(p.versions) != len(crd.Spec.Versions) || p.typed.Name != crd.Name {
		return false
	}
	for i := range p.versions {
		was, is := &p.versions[i], &crd.Spec.Versions[i]
		if was.Name != is.Name || was.Served != is.Served || was.Storage != is.Storage || was.Schema != is.Schema ||
			was.Subresources != is.Subresources || len(was.SelectableFields) != len(is.SelectableFields) {
			return false
		}
	}
	return true
}

// Definitions is the kind of definitions.
func Definitions() *Kind {
	return Builtins().ByResource["apiextensions.k8s.io/customresourcedefinitions"]
}

// Draft is the prepared definition as a new object.
func (p *Prepared) Draft(now metav1.Time, uid types.UID) *object.Object {
	typed := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: *p.typed.ObjectMeta.DeepCopy(), Spec: p.typed.Spec, Status: p.typed.Status,
	}
	ver := Definitions().Storage
	typed.SetGroupVersionKind(ver.GVK())
	typed.CreationTimestamp, typed.UID = now, uid
	typed.Status.Conditions = slices.Clone(typed.Status.Conditions)
	for i := range typed.Status.Conditions {
		typed.Status.Conditions[i].LastTransitionTime = now
	}
	return &object.Object{Version: ver, Typed: typed, Meta: &typed.ObjectMeta}
}
