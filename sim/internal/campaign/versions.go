package campaign

import (
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
)

// versions are what a story was recorded with. A test binary carries no list of its modules, but
// the source path of a function names the module's version.
func versions() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	samples := map[string]any{
		"sigs.k8s.io/controller-runtime": ctrl.NewManager,
		"k8s.io/client-go":               cache.NewSharedIndexInformer,
	}
	for path, function := range samples {
		pc := reflect.ValueOf(function).Pointer()
		file, _ := runtime.FuncForPC(pc).FileLine(pc)
		if _, rest, ok := strings.Cut(file, path+"@"); ok {
			v[path], _, _ = strings.Cut(rest, "/")
		}
	}
	return v
}
