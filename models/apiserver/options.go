package apiserver

import (
	"mime"
	"net/url"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// writeOptions are what the options of create, update, patch and delete say.
type writeOptions struct {
	dryRun bool
	// manager is the fieldManager; force lets an apply take fields from other managers.
	manager string
	force   bool
	// validation is what to do about unknown and repeated fields: Ignore, Warn or Strict.
	validation string
}

func newWriteOptions(dryRun []string, validation, manager string) writeOptions {
	if validation == "" {
		validation = metav1.FieldValidationWarn
	}
	return writeOptions{dryRun: len(dryRun) > 0, validation: validation, manager: manager}
}

// readQuery reads the options in a query.
func readQuery[T any](query url.Values, into *T, convert func(*url.Values, *T, conversion.Scope) error) error {
	if len(query) == 0 {
		return nil
	}
	if err := convert(&query, into, nil); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

func createOptions(query url.Values) (writeOptions, error) {
	var opts metav1.CreateOptions
	if err := readQuery(query, &opts, metav1.Convert_url_Values_To_v1_CreateOptions); err != nil {
		return writeOptions{}, err
	}
	return newWriteOptions(opts.DryRun, opts.FieldValidation, opts.FieldManager),
		invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&opts))
}

func updateOptions(query url.Values) (writeOptions, error) {
	var opts metav1.UpdateOptions
	if err := readQuery(query, &opts, metav1.Convert_url_Values_To_v1_UpdateOptions); err != nil {
		return writeOptions{}, err
	}
	return newWriteOptions(opts.DryRun, opts.FieldValidation, opts.FieldManager),
		invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&opts))
}

func patchOptions(query url.Values, kind types.PatchType) (writeOptions, error) {
	var opts metav1.PatchOptions
	if err := readQuery(query, &opts, metav1.Convert_url_Values_To_v1_PatchOptions); err != nil {
		return writeOptions{}, err
	}
	out := newWriteOptions(opts.DryRun, opts.FieldValidation, opts.FieldManager)
	out.force = opts.Force != nil && *opts.Force
	return out, invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(&opts, kind))
}

// jsonBody is the body as JSON. YAML becomes JSON, and a body without a type is JSON.
func (r *Request) jsonBody() ([]byte, error) {
	header := r.Header.Get("Content-Type")
	if header == "" || header == "application/json" {
		return r.Body, nil
	}
	media, _, err := mime.ParseMediaType(header)
	switch {
	case err == nil && media == "application/json":
		return r.Body, nil
	case err == nil && media == "application/yaml":
		raw, err := yaml.YAMLToJSON(r.Body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		return raw, nil
	case err == nil && (media == protobufType || media == "application/cbor"):
		return nil, NotModelled("bodies of type %s: set the client's content type to application/json", media)
	}
	return nil, unsupportedMediaType("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
}

// parseRevision reads a resourceVersion; the empty one is zero.
func parseRevision(text string) (int64, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, field.Invalid(field.NewPath("resourceVersion"), text, err.Error())
	}
	return int64(n), nil
}
