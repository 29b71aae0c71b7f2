package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// servePatch changes an object by a patch, as endpoints/handlers/patch.go does.
func servePatch(r *request) (*Response, error) {
	sub := r.info.Subresource
	w, kind, err := r.patchWrite()
	if err != nil {
		return nil, err
	}
	if kind == types.ApplyYAMLPatchType {
		return serveApply(w, sub)
	}
	old, err := r.stored()
	if err != nil {
		return nil, err
	}
	from := old
	if bytes.Contains(w.body, []byte("managedFields")) {
		from = old.Tracked() // the patch may look at what has not been worked out yet
	}
	p := object.Patch{Decoder: w.decoder(), Kind: kind, Body: w.body, Version: w.ver}
	draft, err := p.Apply(from)
	if err != nil {
		return nil, err
	}
	if err := w.info.matchNamespace(draft.Meta); err != nil {
		return nil, err
	}
	if err := w.info.matchName(draft.Meta); err != nil {
		return nil, err
	}
	if kind != types.StrategicMergePatchType {
		object.KeepBytes(draft.Typed, old.Typed)
	}
	return w.store(draft, old, sub)
}

// patchWrite reads the type and the options of a patch, and checks that its body is a document.
func (r *request) patchWrite() (*write, types.PatchType, error) {
	kind := types.PatchType(object.MediaType(r.Header.Get("Content-Type")))
	if err := r.checkPatchType(kind); err != nil {
		return nil, kind, err
	}
	options, err := patchOptions(r.query, kind)
	if err != nil {
		return nil, kind, err
	}
	return &write{request: r, writeOptions: options, body: r.Body}, kind, r.readable(kind)
}

func (r *request) checkPatchType(kind types.PatchType) error {
	accepted := []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType)}
	if r.kind.Builtin {
		accepted = append(accepted, string(types.StrategicMergePatchType))
	}
	if slices.Contains(accepted, string(kind)) {
		return nil
	}
	if kind == types.ApplyCBORPatchType {
		return NotModelled("patches of type %s", kind)
	}
	if r.kind.Builtin {
		return errPatchType
	}
	return unsupportedMediaType(accepted...)
}

// readable refuses a body that is no document at all, before anything is looked up
// (validateAndTranscodePatch).
func (r *request) readable(kind types.PatchType) error {
	if kind == types.ApplyYAMLPatchType {
		if _, err := yaml.ToJSON(r.Body); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("error encoding patch: %v", err))
		}
		return nil
	}
	if !json.Valid(r.Body) {
		return apierrors.NewBadRequest("invalid JSON patch")
	}
	return nil
}
