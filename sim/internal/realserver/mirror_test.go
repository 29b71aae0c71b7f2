package realserver

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What a control plane makes for itself does not make a server one that is in use.
func TestObjectsOfTheControlPlane(t *testing.T) {
	for _, c := range []struct {
		resource, namespace, name, json string
		want                            bool
	}{
		{"events", "default", "kubernetes.18ebfc6503d0f94b", "", true},
		{"events", "default", "web.18ebfc6503d0f94b", "", false},
		{"events", "shop", "database.18ec0", `{"reportingComponent":"ipallocator-repair-controller"}`, true},
		{"pods", "default", "kubernetes.a", "", false},
		{"services", "default", "kubernetes", "", true},
		{"pods", "kube-system", "a", "", true},
		{"serviceaccounts", "default", "default", "", true},
		{"secrets", "default", "default", "", false},
	} {
		m := &mirror{name: c.resource, scoped: true}
		o := &known{meta: metav1.ObjectMeta{Namespace: c.namespace, Name: c.name}, json: []byte(c.json)}
		if got := m.ofControlPlane(o); got != c.want {
			t.Errorf("%s %s/%s: %t", c.resource, c.namespace, c.name, got)
		}
	}
}

// A webhook that is not reached would refuse to let the other objects go.
func TestWebhooksAreRemovedFirst(t *testing.T) {
	mirrors := []*mirror{
		{name: "customresourcedefinitions"}, {name: "namespaces"}, {name: "configmaps"},
		{name: "validatingwebhookconfigurations", kind: schema.GroupVersionKind{Group: "admissionregistration.k8s.io"}},
	}
	slices.SortFunc(mirrors, byRank)
	var got []string
	for _, m := range mirrors {
		got = append(got, m.name)
	}
	want := []string{"validatingwebhookconfigurations", "configmaps", "namespaces", "customresourcedefinitions"}
	if !slices.Equal(got, want) {
		t.Errorf("objects are removed in the order %v", got)
	}
}
