package apiserver_test

import (
	"encoding/json"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// decodes compares what is decoded from a response with what encoding/json makes of the body.
func decodes[T any](t *testing.T, r *apiserver.Response) *T {
	t.Helper()
	got, want := new(T), new(T)
	if err := r.Decode(got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Body, want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v, got %+v", want, got)
	}
	return got
}

// items does the same with a list.
func items[T any](t *testing.T, r *apiserver.Response) []T {
	t.Helper()
	got, err := apiserver.DecodeItems[T](r)
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Items []T `json:"items"`
	}
	if err := json.Unmarshal(r.Body, &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want.Items) {
		t.Errorf("expected %+v, got %+v", want.Items, got)
	}
	return got
}

// What is decoded is the same as without keeping it: for each type, in a list and alone, after a
// change of what was decoded, and after a change of the object.
func TestDecode(t *testing.T) {
	s := newServer(t, widgets())
	must(t, s, "POST", configDir, jsonType, configBody("a", 3))
	must(t, s, "POST", configDir, jsonType, configBody("b", 3))
	must(t, s, "POST", widgetDir, jsonType, widgetBody("w", 3))
	get := func(path string) *apiserver.Response { return must(t, s, "GET", path, "", "") }
	for _, payload := range []string{"xxx", "changed"} {
		for range 3 {
			cm := decodes[corev1.ConfigMap](t, get(configDir+"/a"))
			if cm.Kind != "ConfigMap" || cm.Data["payload"] != payload {
				t.Errorf("expected a ConfigMap with %q, got %+v", payload, cm)
			}
			cm.Data["payload"], cm.Labels["app"] = "by its reader", "by its reader"
			decodes[metav1.PartialObjectMetadata](t, get(configDir+"/a")).Labels["app"] = "by its reader"
			decodes[map[string]any](t, get(configDir+"/a"))
			all := items[corev1.ConfigMap](t, get(configDir))
			if len(all) != 2 || all[0].Kind != "" || all[0].Data["payload"] != payload {
				t.Errorf("expected two ConfigMaps without kind, the first with %q, got %+v", payload, all)
			}
			all[0].Data["payload"] = "by its reader"
			items[metav1.PartialObjectMetadata](t, get(configDir))
			items[map[string]any](t, get(configDir))
			if w := items[metav1.PartialObjectMetadata](t, get(widgetDir)); len(w) != 1 || w[0].Kind != "Widget" {
				t.Errorf("expected a Widget with its kind, got %+v", w)
			}
			items[corev1.Secret](t, get("/api/v1/namespaces/default/secrets"))
		}
		must(t, s, "PATCH", configDir+"/a", mergeType, `{"data":{"payload":"changed"}}`)
	}
	merged := &corev1.ConfigMap{Immutable: new(bool)}
	if get(configDir+"/a").Decode(merged) != nil || merged.Immutable == nil || merged.Data["payload"] != "changed" {
		t.Errorf("decoding into a value that is not zero merges, got %+v", merged)
	}
	if _, err := apiserver.DecodeItems[corev1.ConfigMap](get(configDir + "/a")); err != nil {
		t.Errorf("an object is a list without items, got %v", err)
	}
}
