// This file exists to bring an operator's custom resource definitions into a world, fast enough for thousands of worlds.

package sim

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Install adds custom resource definitions: directories or files of YAML, or objects, as envtest takes them.
func (w *World) Install(crds ...any) {
	w.alive()
	w.install(w.wire.Server(), crds)
}

func (w *World) install(server *apiserver.Server, crds []any) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, c := range crds {
		switch c := c.(type) {
		case *apiextensionsv1.CustomResourceDefinition:
			all = append(all, c)
		case []*apiextensionsv1.CustomResourceDefinition:
			all = append(all, c...)
		case string:
			found, err := readCRDs(c)
			if err != nil {
				w.misuse("w.Install(%q): %v", c, err)
			}
			all = append(all, found...)
		default:
			w.misuse("w.Install was given a %T; give it a directory, a file, or *apiextensionsv1.CustomResourceDefinition objects", c)
		}
	}
	if err := server.Install(all...); err != nil {
		w.misuse("w.Install: %v", err)
	}
}

// readCRDs reads every CustomResourceDefinition in a file or a directory of YAML or JSON files.
func readCRDs(path string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{path}
	if info.IsDir() {
		files = nil
		for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
			found, _ := filepath.Glob(filepath.Join(path, pattern))
			files = append(files, found...)
		}
		sort.Strings(files)
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, f := range files {
		found, err := readFile(f)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	if len(out) == 0 {
		return nil, errors.New("no CustomResourceDefinition found there (in *.yaml, *.yml or *.json; directories below are not looked into)")
	}
	return out, nil
}

// definitions are the files that have been read, by path. A run takes milliseconds, and reading the schemas of a larger operator takes
// more; the API server knows them again by their pointers.
var definitions = struct {
	sync.Mutex
	in map[string]definitionFile
}{in: map[string]definitionFile{}}

type definitionFile struct {
	text []byte
	crds []*apiextensionsv1.CustomResourceDefinition
}

// readFile reads the definitions in one file of YAML or JSON, or knows them if its text is what it was.
func readFile(path string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	definitions.Lock()
	defer definitions.Unlock()
	if known, ok := definitions.in[path]; ok && bytes.Equal(known.text, text) {
		return known.crds, nil
	}
	var out []*apiextensionsv1.CustomResourceDefinition
	for _, doc := range splitYAML(text) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(doc, crd); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if v := apiextensionsv1.SchemeGroupVersion.String(); crd.Kind == "CustomResourceDefinition" {
			if crd.APIVersion != v {
				return nil, fmt.Errorf("%s: definition %s has apiVersion %q; a server knows %s alone", path, crd.Name, crd.APIVersion, v)
			}
			out = append(out, crd)
		}
	}
	definitions.in[path] = definitionFile{text, out}
	return out, nil
}

var documentMark = regexp.MustCompile(`(?m)^---.*$`)

// splitYAML cuts a file into its documents.
func splitYAML(data []byte) [][]byte {
	var out [][]byte
	for _, doc := range documentMark.Split(string(data), -1) {
		if d := bytes.TrimSpace([]byte(doc)); len(d) > 0 {
			out = append(out, d)
		}
	}
	return out
}
