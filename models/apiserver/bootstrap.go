package apiserver

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
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

// Install serves custom types: it stores each definition, established at once, or replaces the
// stored one. Definitions are shared between servers and must not be changed afterwards: their
// schemas are compiled once per process.
func (s *Server) Install(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		if err := s.install(crd); err != nil {
			return fmt.Errorf("install %s: %w", crd.Name, err)
		}
	}
	return nil
}

func (s *Server) install(crd *apiextensionsv1.CustomResourceDefinition) error {
	w := s.internalWrite(registry.Definitions(), crd.Name, &effects{})
	old, exists := w.lookup(crd.Name)
	if !exists {
		return w.installPrepared(crd)
	}
	draft := object.DraftOf(registry.DecodeDefinition(registry.EncodeDefinition(crd)), w.ver)
	draft.Meta.ResourceVersion, draft.Meta.UID = old.Meta.ResourceVersion, ""
	_, err := w.replace(draft, old, "")
	return err
}

// installPrepared stores a definition as established, in one change: a real server writes it three
// times in the second after its creation.
func (w *write) installPrepared(crd *apiextensionsv1.CustomResourceDefinition) error {
	p := registry.Prepare(crd)
	if p.Err != nil {
		return p.Err
	}
	draft := p.Draft(metav1.NewTime(w.s.now()), w.s.generator.uid())
	draft.CommittedAt = w.s.options.Now()
	w.record(w.s.store.Commit(w.table(), draft.Key(), false, func(revision int64) *object.Object {
		return draft.SealJoined(revision, p.Spec)
	}))
	w.s.registry.Put(p.Kind)
	return nil
}
