package user

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim/internal/definitions"
)

// Objects reads the objects in a file of YAML or JSON, or in the files of a directory, in the order
// of their names. As kubectl does, it puts what names no namespace into "default". A kustomization
// is no object.
func (u *User) Objects(path string) ([]client.Object, error) {
	files, err := definitions.Files(path)
	if err != nil {
		return nil, err
	}
	var out []client.Object
	for _, file := range files {
		if name := filepath.Base(file); strings.HasPrefix(name, "kustomization.") {
			continue
		}
		found, err := u.objectsOf(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no object (in *.yaml, *.yml or *.json; directories below are not read)", path)
	}
	return out, nil
}

func (u *User) objectsOf(file string) (out []client.Object, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for dec := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		obj := &unstructured.Unstructured{}
		switch err := dec.Decode(obj); {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		if len(obj.Object) == 0 {
			continue // an empty document
		}
		namespaced, err := u.IsObjectNamespaced(obj)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w; w.Install its definition first", obj.GetKind(), obj.GetName(), err)
		}
		if namespaced && obj.GetNamespace() == "" {
			obj.SetNamespace("default")
		}
		out = append(out, obj)
	}
}
