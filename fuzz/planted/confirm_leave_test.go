//go:build conformance

package planted

import (
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// leave leaves an object at the server of a kubeconfig.
func leave(t *testing.T, kubeconfig string) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Create(t.Context(), cm("left-behind")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := c.Delete(t.Context(), cm("left-behind"))
		if client.IgnoreNotFound(err) != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
}
