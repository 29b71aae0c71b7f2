package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// firstNamespaces exist in every cluster from the start
// (pkg/controlplane/controller/systemnamespaces in the Kubernetes tree).
var firstNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// New returns a server with the built-in types and the namespaces that every cluster starts with.
func New(o Options) *Server {
	if o.Now == nil {
		panic("apiserver: Options.Now is required")
	}
	s := &Server{
		contents: contents{
			store:    store.New[*object.Object](0),
			registry: registry.Registry{Custom: map[string]*registry.Kind{}},
		},
		options:   o,
		generator: generator{seed: o.Seed},
	}
	w := s.internalWrite(s.registry.ByResource("", "namespaces"), "", &effects{})
	for _, name := range firstNamespaces {
		typed := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := w.createObject(object.DraftOf(typed, w.ver)); err != nil {
			panic("apiserver: namespace " + name + " could not be created: " + err.Error())
		}
	}
	return s
}
