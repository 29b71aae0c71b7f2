package realserver

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// limit is how long the server may take to serve a new kind, or to remove what a run has made.
const limit = 30 * time.Second

// Install creates definitions and waits until the server serves their kinds. It is an error if the
// server has another definition of the same name.
func (s *Server) Install(crds ...*apiextensionsv1.CustomResourceDefinition) error {
	for _, crd := range crds {
		crd = crd.DeepCopy()
		crd.TypeMeta.APIVersion, crd.TypeMeta.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
		crd.ResourceVersion, crd.UID = "", ""
		err := s.call(http.MethodPost, definitions, crd, nil)
		var refused *statusError
		if errors.As(err, &refused) && refused.code == http.StatusConflict {
			return fmt.Errorf("the server has a CustomResourceDefinition %s already; "+
				"use an empty control plane, or delete the definition", crd.Name)
		}
		if err != nil {
			return fmt.Errorf("creating CustomResourceDefinition %s: %w", crd.Name, err)
		}
		s.mu.Lock()
		s.crds = append(s.crds, crd)
		s.mu.Unlock()
		if err := s.await(crd); err != nil {
			return err
		}
	}
	return nil
}

// await waits until every version of a definition is served.
func (s *Server) await(crd *apiextensionsv1.CustomResourceDefinition) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		served := true
		for _, v := range crd.Spec.Versions {
			path := "/apis/" + crd.Spec.Group + "/" + v.Name + "/" + crd.Spec.Names.Plural
			_, err := s.mapper.RESTMapping(schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}, v.Name)
			served = served && (!v.Served || err == nil && s.call(http.MethodGet, path, nil, nil) == nil)
		}
		switch {
		case served:
			return nil
		case time.Now().After(deadline):
			return fmt.Errorf("the server does not serve %s within %v", crd.Name, limit)
		}
	}
}

// Close ends all watches and removes what the run has created.
func (s *Server) Close() error {
	s.cancel()
	if s.Admits() {
		_ = s.listener.http.Close()
	}
	s.http.CloseIdleConnections()
	var errs []error
	var mirrors []*mirror
	s.mu.Lock()
	for _, m := range s.watched {
		if m != nil {
			mirrors = append(mirrors, m)
		}
	}
	s.mu.Unlock()
	// Namespaces come last: nothing can be created in one that is being deleted.
	slices.SortFunc(mirrors, byRank)
	for range 2 { // a request that was under way may have created something meanwhile
		for _, m := range mirrors {
			errs = append(errs, m.clean())
		}
	}
	for _, crd := range s.crds {
		errs = append(errs, s.remove(definitions+"/"+crd.Name))
	}
	return errors.Join(errs...)
}

func byRank(a, b *mirror) int { return rank(a) - rank(b) }

// rank is the place of a kind in the order of removal. The server makes APIServices for
// definitions. Webhooks and admission policies come first, because they may refuse deletions.
func rank(m *mirror) int {
	if m.kind.Group == "admissionregistration.k8s.io" {
		return -2
	}
	return slices.Index([]string{"namespaces", "customresourcedefinitions", "apiservices"}, m.name)
}

// firstNamespaces are those of every cluster.
var firstNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// clean deletes the objects that were not there when the mirror was made.
func (m *mirror) clean() error {
	before := m.hidden
	fresh := &mirror{server: m.server, kind: m.kind, path: m.path, name: m.name,
		objects: map[types.NamespacedName]*known{}, hidden: map[types.NamespacedName]bool{}}
	if _, err := fresh.list(); err != nil {
		if notFound(err) { // its definition is removed
			return nil
		}
		return err
	}
	var errs []error
	for at := range fresh.objects {
		if before[at] || m.name == "namespaces" && slices.Contains(firstNamespaces, at.Name) {
			continue
		}
		path := m.path + "/" + at.Name
		if m.scoped {
			path = m.path[:len(m.path)-len(m.name)] + "namespaces/" + at.Namespace + "/" + m.name + "/" + at.Name
		}
		errs = append(errs, m.server.remove(path))
	}
	return errors.Join(errs...)
}

// remove deletes an object, whatever keeps it, and waits until it is gone.
func (s *Server) remove(path string) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		var o struct {
			head
			Spec struct {
				Finalizers []string `json:"finalizers"`
			} `json:"spec"`
			Kind string `json:"kind"`
		}
		err := s.call(http.MethodGet, path, nil, &o)
		switch {
		case notFound(err):
			return nil
		case err != nil:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("%s was not removed within %v", path, limit)
		}
		if len(o.Metadata.Finalizers) > 0 {
			_ = s.call(http.MethodPatch, path, map[string]any{"metadata": map[string]any{"finalizers": nil}}, nil)
		}
		_ = s.call(http.MethodDelete, path, map[string]any{"kind": "DeleteOptions", "apiVersion": "v1",
			"gracePeriodSeconds": 0, "propagationPolicy": "Background"}, nil)
		if o.Kind == "Namespace" && len(o.Spec.Finalizers) > 0 { // no namespace controller runs
			_ = s.call(http.MethodPut, path+"/finalize", map[string]any{"kind": "Namespace", "apiVersion": "v1",
				"metadata": map[string]any{"name": o.Metadata.Name}, "spec": map[string]any{}}, nil)
		}
	}
}
