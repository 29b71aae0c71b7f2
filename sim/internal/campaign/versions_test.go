package campaign

import (
	"strings"
	"testing"
)

// A story says which Go, controller-runtime and client-go it was recorded with.
func TestAStoryKnowsItsVersions(t *testing.T) {
	v := recordedWith()
	for _, name := range []string{"go", "sigs.k8s.io/controller-runtime", "k8s.io/client-go"} {
		if !strings.HasPrefix(strings.TrimPrefix(v[name], "go"), "v") && name != "go" || v[name] == "" {
			t.Errorf("%s has version %q", name, v[name])
		}
	}
}
