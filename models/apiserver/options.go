package apiserver

import (
	"mime"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

func invalidOptions(kind string, errs field.ErrorList) error {
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: kind}, "", errs)
}

// setWriteOptions takes over the options that create, update and patch share.
func (c *call) setWriteOptions(dryRun []string, validation, manager string) {
	c.manager = manager
	c.dryRun = len(dryRun) > 0
	c.validation = validation
	if validation == "" {
		c.validation = metav1.FieldValidationWarn
	}
}

func (c *call) createOptions() error {
	var opts metav1.CreateOptions
	if len(c.query) > 0 {
		if err := metav1.Convert_url_Values_To_v1_CreateOptions(&c.query, &opts, nil); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	c.setWriteOptions(opts.DryRun, opts.FieldValidation, opts.FieldManager)
	return invalidOptions("CreateOptions", metavalidation.ValidateCreateOptions(&opts))
}

func (c *call) updateOptions() error {
	var opts metav1.UpdateOptions
	if len(c.query) > 0 {
		if err := metav1.Convert_url_Values_To_v1_UpdateOptions(&c.query, &opts, nil); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	c.setWriteOptions(opts.DryRun, opts.FieldValidation, opts.FieldManager)
	return invalidOptions("UpdateOptions", metavalidation.ValidateUpdateOptions(&opts))
}

func (c *call) patchOptions(kind types.PatchType) error {
	var opts metav1.PatchOptions
	if len(c.query) > 0 {
		if err := metav1.Convert_url_Values_To_v1_PatchOptions(&c.query, &opts, nil); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
	}
	c.setWriteOptions(opts.DryRun, opts.FieldValidation, opts.FieldManager)
	c.force = opts.Force != nil && *opts.Force
	return invalidOptions("PatchOptions", metavalidation.ValidatePatchOptions(&opts, kind))
}

// readBody settles the encoding of a body: JSON, or YAML, which becomes JSON. A body without a type is JSON.
func (c *call) readBody() error {
	header := c.req.Header.Get("Content-Type")
	if header == "" || header == "application/json" {
		return nil
	}
	media, _, err := mime.ParseMediaType(header)
	switch {
	case err == nil && media == "application/json":
		return nil
	case err == nil && media == "application/yaml":
		raw, err := yaml.YAMLToJSON(c.req.Body)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		changed := *c.req
		changed.Body = raw
		c.req = &changed
		return nil
	case err == nil && (media == protobufType || media == "application/cbor"):
		return notModelled("bodies of type %s: set the client's content type to application/json", media)
	}
	return unsupportedMediaType("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")
}

// unsupportedMediaType words a 415 as endpoints/handlers/negotiation/errors.go does.
func unsupportedMediaType(accepted ...string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure,
		Code:   415,
		Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " +
			strings.Join(accepted, ", "),
	}}
}

// negotiate settles the form of the reply: the object itself, its metadata, or a table of custom objects. Other tables and
// encodings are not modelled; clients that ask for them offer an alternative.
func (c *call) negotiate() error {
	c.accepted = view{ver: c.ver}
	header := c.req.Header.Get("Accept")
	if header == "" || header == "application/json" || header == "*/*" {
		return nil
	}
	known := false
	for clause := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		known = known || strings.HasPrefix(media, "application/")
		if media != "application/json" && media != "*/*" && media != "application/*" {
			continue
		}
		switch as := params["as"]; {
		case as == "":
			return nil
		case as == "Table" && params["g"] == metav1.GroupName && params["v"] == "v1" && c.tabulates():
			c.tabular = true
			return nil
		case strings.HasPrefix(as, "PartialObjectMetadata") && params["g"] == metav1.GroupName && params["v"] == "v1":
			c.accepted = view{ver: c.ver, partial: true}
			return c.checkPartial(as)
		}
	}
	if !known {
		err := notAcceptable("406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf")
		err.(*apierrors.StatusError).ErrStatus.Details = &metav1.StatusDetails{}
		return err
	}
	return notAcceptable("only the following media types are accepted: application/json, application/json;as=PartialObjectMetadata;" +
		"g=meta.k8s.io;v=v1 (wavetank: models/apiserver does not model Table, YAML, CBOR and protobuf replies)")
}

// checkPartial refuses metadata of an object where a list comes, and the reverse
// (endpoints/handlers/response.go).
func (c *call) checkPartial(as string) error {
	group := internalPackage(c.kind.group)
	if c.kind.builtin == nil {
		group = "unstructured"
	}
	switch collection := c.info.Verb == "list" || c.info.Verb == "deletecollection"; {
	case collection && as == "PartialObjectMetadata":
		return notAcceptable("you requested PartialObjectMetadata, but the requested object is a list (*" + group + "." + c.kind.list + ")")
	case !collection && c.info.Verb != "watch" && as != "PartialObjectMetadata":
		return notAcceptable("you requested PartialObjectMetadataList, but the requested object is not a list (*" + group + "." + c.kind.kind + ")")
	}
	return nil
}

// tabulates says whether the reply can be a table.
func (c *call) tabulates() bool {
	known := c.kind.builtin == nil || builtinTables[c.kind.group+"/"+c.kind.plural] != nil
	return known && c.info.Subresource == "" && (c.info.Verb == "get" || c.info.Verb == "list")
}

func notAcceptable(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 406, Reason: metav1.StatusReasonNotAcceptable, Message: text,
	}}
}
