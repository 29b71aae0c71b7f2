package sim

import (
	"reflect"
	"runtime"
	"strings"

	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
)

// versions are what a story was recorded with. A test binary carries no list of its modules, but the source path of a
// function names the module's version.
func versions() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	for path, fn := range map[string]any{"sigs.k8s.io/controller-runtime": ctrl.NewManager, "k8s.io/client-go": cache.NewSharedIndexInformer} {
		file, _ := runtime.FuncForPC(reflect.ValueOf(fn).Pointer()).FileLine(reflect.ValueOf(fn).Pointer())
		if _, rest, ok := strings.Cut(file, path+"@"); ok {
			v[path], _, _ = strings.Cut(rest, "/")
		}
	}
	return v
}
