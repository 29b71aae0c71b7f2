package apiserver

import (
	"encoding/json"
	"mime"
	"net/http"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// protobufDecoder knows the built-in types. It does not use client-go's own scheme, to which
// operators add theirs.
var protobufDecoder = sync.OnceValue(func() runtime.Decoder {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(s); err != nil {
			panic("apiserver: the built-in types do not fit in one scheme: " + err.Error())
		}
	}
	return serializer.NewCodecFactory(s).UniversalDeserializer()
})

// JSONBody turns a body in protobuf into JSON and returns it with a header that says so. Every
// other body is returned as it is. The error says why a body is no object of a built-in type.
//
// kubectl and controller-runtime send built-in types in protobuf. The model reads JSON.
func JSONBody(header http.Header, body []byte) (http.Header, []byte, error) {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || media != protobufType || len(body) == 0 {
		return header, body, nil
	}
	o, kind, err := protobufDecoder().Decode(body, nil, &metav1.DeleteOptions{})
	if err != nil {
		return nil, nil, err
	}
	o.GetObjectKind().SetGroupVersionKind(*kind)
	if body, err = json.Marshal(o); err != nil {
		return nil, nil, err
	}
	header = header.Clone()
	header.Set("Content-Type", "application/json")
	return header, body, nil
}

// Sent returns the type and the bytes of the body as the client asked for them: in protobuf if it
// prefers that and the objects have such a form, as kube-apiserver answers controller-runtime for
// built-in types, and otherwise Body.
func (r *Response) Sent() (contentType string, body []byte) {
	if r.protobuf != nil {
		if body := r.protobuf(); body != nil {
			return protobufType, body
		}
	}
	return r.Header.Get("Content-Type"), r.Body
}
