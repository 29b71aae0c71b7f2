package realserver

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
