package apiserver

import (
	"mime"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

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

// negotiate settles the form of the reply: the object itself, its metadata, or a table of custom
// objects. Built-in types have a form in protobuf, except in watches. Other tables and encodings
// are not modelled; clients that ask for them offer an alternative.
func (r *request) negotiate() (replyForm, error) {
	plain := replyForm{View: object.View{Version: r.ver}}
	header := r.Header.Get("Accept")
	if header == "" || header == "application/json" || header == "*/*" {
		return plain, nil
	}
	known := false
	for clause := range strings.SplitSeq(header, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		known = known || strings.HasPrefix(media, "application/")
		if media == protobufType && params["as"] == "" && r.kind.Builtin && r.info.Verb != "watch" {
			plain.protobuf = true
			return plain, nil
		}
		if media != "application/json" && media != "*/*" && media != "application/*" {
			continue
		}
		switch as := params["as"]; {
		case as == "":
			return plain, nil
		case as == "Table" && params["g"] == metav1.GroupName && params["v"] == "v1" && r.tabulates():
			return replyForm{View: plain.View, table: r.printer()}, nil
		case strings.HasPrefix(as, "PartialObjectMetadata") && params["g"] == metav1.GroupName && params["v"] == "v1":
			return replyForm{View: object.View{Version: r.ver, Partial: true}}, r.checkPartial(as)
		}
	}
	if !known {
		err := notAcceptable("406: Not Acceptable\n\nAvailable representations: " +
			"application/json, application/yaml, application/vnd.kubernetes.protobuf")
		err.ErrStatus.Details = &metav1.StatusDetails{}
		return plain, err
	}
	return plain, notAcceptable("only the following media types are accepted: application/json, " +
		"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1 " +
		"(wavetank: models/apiserver does not model Table, YAML and CBOR replies, and " +
		"protobuf only for objects of built-in types)")
}

// checkPartial refuses metadata of an object where a list comes, and the reverse
// (endpoints/handlers/response.go).
func (r *request) checkPartial(as string) error {
	group := "unstructured"
	if r.kind.Builtin {
		group = object.InternalPackage(r.kind.Group)
	}
	const asked = "you requested PartialObjectMetadata"
	switch collection := r.info.Verb == "list" || r.info.Verb == "deletecollection"; {
	case collection && as == "PartialObjectMetadata":
		return notAcceptable(asked + ", but the requested object is a list (*" + group + "." + r.kind.List + ")")
	case !collection && r.info.Verb != "watch" && as != "PartialObjectMetadata":
		return notAcceptable(asked + "List, but the requested object is not a list (*" + group + "." + r.kind.Kind +
			")")
	}
	return nil
}

// tabulates reports whether the reply can be a table.
func (r *request) tabulates() bool {
	known := !r.kind.Builtin || r.kind.Columns != nil
	return known && r.info.Subresource == "" && (r.info.Verb == "get" || r.info.Verb == "list")
}

func notAcceptable(text string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 406, Reason: metav1.StatusReasonNotAcceptable, Message: text,
	}}
}

func (r *request) printer() *printer {
	return &printer{kind: r.kind, ver: r.ver, now: r.s.options.Now, include: r.query.Get("includeObject")}
}
