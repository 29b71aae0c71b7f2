package apiserver

import (
	"encoding/hex"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// decodeBody reads the object in a create or update request and fills its defaults.
func decodeBody(w *write) (*object.Object, error) {
	d := w.decoder()
	o, strict, err := d.Decode(w.body, w.ver)
	if err != nil {
		return nil, decodeError(w, err)
	}
	if len(strict) > 0 {
		switch w.validation {
		case metav1.FieldValidationStrict:
			return nil, decodeError(w, runtime.NewStrictDecodingError(strict))
		case metav1.FieldValidationWarn:
			d.WarnAll(strict)
		}
	}
	return o, nil
}

// decodeError words a decoding failure as endpoints/handlers/rest.go (transformDecodeError) does.
func decodeError(w *write, err error) error {
	if _, ok := err.(apierrors.APIStatus); ok {
		return err
	}
	apiVersion, kind, typeErr := object.TypeOf(w.body)
	if typeErr == nil && w.kind.Builtin {
		// A built-in body may leave its type out.
		if kind == "" {
			kind = w.kind.Kind
		}
		if apiVersion == "" {
			apiVersion = w.ver.APIVersion()
		}
	}
	if kind != "" && typeErr == nil {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v",
			kind, apiVersion[strings.LastIndex(apiVersion, "/")+1:], w.kind.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)",
		w.kind.Kind, err, summary(w.body)))
}

// summary shows the start of a body: as text when it looks like JSON, else in hexadecimal.
func summary(body []byte) string {
	const limit = 30
	short, more := body, ""
	if len(body) > limit {
		short, more = body[:limit], " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return string(short) + more
	default:
		return hex.EncodeToString(short) + more
	}
}
