package serve

// kubectl and other programs speak protobuf about built-in types. The model speaks JSON, so bodies are put into it here;
// replies need nothing, because such clients take JSON too.

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

const protobuf = "application/vnd.kubernetes.protobuf"

// asJSON turns a protobuf body into JSON and says so in the header that it returns.
func asJSON(header http.Header, body []byte) (http.Header, []byte, error) {
	if len(body) == 0 || !strings.HasPrefix(header.Get("Content-Type"), protobuf) {
		return header, body, nil
	}
	o, kind, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, &metav1.DeleteOptions{})
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
