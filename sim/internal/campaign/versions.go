package campaign

import (
	"runtime"

	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/internal/versions"
)

// recordedWith returns the versions that a story is recorded with.
func recordedWith() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	for path, function := range map[string]any{
		"sigs.k8s.io/controller-runtime": ctrl.NewManager,
		"k8s.io/client-go":               cache.NewSharedIndexInformer,
	} {
		if version := versions.Module(path, function); version != "" {
			v[path] = version
		}
	}
	return v
}
