package apiserver_test

import (
	"bytes"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/wavetank/wavetank/models/apiserver"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// A reply in protobuf is what the serializer of kube-apiserver makes of the reply in JSON.
func TestRepliesInProtobuf(t *testing.T) {
	s := newServer(t, widgets())
	const (
		maps   = "/api/v1/namespaces/default/configmaps"
		widget = "/apis/test.wavetank.dev/v1/namespaces/default/widgets"
	)
	ask := func(path, accept string) *apiserver.Response {
		u, err := url.Parse(path)
		if err != nil {
			t.Fatal(err)
		}
		return s.Handle(&apiserver.Request{Method: "GET", URL: u, Header: http.Header{"Accept": {accept}}})
	}
	sent := func(path, accept string) (string, []byte) { return ask(path, accept).Sent() }
	for _, name := range []string{"a", "b"} {
		must(t, s, "POST", maps, jsonType,
			`{"metadata":{"name":"`+name+`"},"data":{"k":"`+strings.Repeat("v", 300)+`"}}`)
	}
	must(t, s, "POST", "/apis/apps/v1/namespaces/default/deployments", jsonType, `{"metadata":{"name":"d"},"spec":`+
		`{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},`+
		`"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	must(t, s, "POST", widget, jsonType,
		`{"apiVersion":"test.wavetank.dev/v1","kind":"Widget","metadata":{"name":"w"}}`)
	coder := protobuf.NewSerializer(testScheme, testScheme)
	for path, into := range map[string]runtime.Object{
		maps + "/a": &corev1.ConfigMap{}, maps: &corev1.ConfigMapList{}, maps + "?limit=1": &corev1.ConfigMapList{},
		maps + "?labelSelector=none": &corev1.ConfigMapList{},
		"/apis/apps/v1/deployments":  &appsv1.DeploymentList{},
	} {
		media, body := sent(path, protobufType+", */*")
		if _, _, err := serializer.NewCodecFactory(testScheme).UniversalDeserializer().Decode(ask(path, "").Body, nil,
			into); err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := coder.Encode(into, &want); err != nil {
			t.Fatal(err)
		}
		if media != protobufType || !bytes.Equal(body, want.Bytes()) {
			t.Errorf("%s: %s %q, want %q", path, media, body, want.Bytes())
		}
		if again, _, err := coder.Decode(body, nil, nil); err != nil || reflect.TypeOf(again) != reflect.TypeOf(into) {
			t.Errorf("%s: %T %v", path, again, err)
		}
	}
	for path, accept := range map[string]string{
		widget: protobufType + ",*/*", widget + "/w": protobufType + ",*/*",
		maps + "/a": "application/json," + protobufType, maps + "/none": protobufType + ",*/*",
		maps + "/b": protobufType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json",
	} {
		if media, body := sent(path, accept); media != "application/json" || body[0] != '{' {
			t.Errorf("%s as %s: %s %q", path, accept, media, body)
		}
	}
}
