package definitions

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"sync"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// file is a file that has been read.
type file struct {
	text        []byte
	definitions []Definition
}

// files are the files that have been read, by path. A run takes milliseconds, and reading the
// schemas of a larger operator takes longer; the API server knows them again by their pointers.
var files = struct {
	sync.Mutex
	read map[string]file
}{read: map[string]file{}}

// readFile returns the definitions in one file of YAML or JSON. It parses the file only if its text
// has changed since the last time.
func readFile(path string) ([]Definition, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files.Lock()
	defer files.Unlock()
	if known, ok := files.read[path]; ok && bytes.Equal(known.text, text) {
		return known.definitions, nil
	}
	var out []Definition
	for _, doc := range splitYAML(text) {
		obj, err := parse(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if obj != nil {
			out = append(out, Definition{path, obj})
		}
	}
	files.read[path] = file{text, out}
	return out, nil
}

// parse reads one document. It returns nil for an object that is no definition.
func parse(doc []byte) (client.Object, error) {
	var meta metav1.PartialObjectMetadata
	if err := yaml.Unmarshal(doc, &meta); err != nil {
		return nil, err
	}
	var obj client.Object
	what, v := "configuration", admissionregv1.SchemeGroupVersion
	switch meta.Kind {
	case "CustomResourceDefinition":
		obj = &apiextensionsv1.CustomResourceDefinition{}
		what, v = "definition", apiextensionsv1.SchemeGroupVersion
	case "MutatingWebhookConfiguration":
		obj = &admissionregv1.MutatingWebhookConfiguration{}
	case "ValidatingWebhookConfiguration":
		obj = &admissionregv1.ValidatingWebhookConfiguration{}
	default:
		return nil, nil
	}
	if meta.APIVersion != v.String() {
		return nil, fmt.Errorf("%s %s has apiVersion %q; a server knows %s alone", what, meta.Name, meta.APIVersion, v)
	}
	return obj, yaml.Unmarshal(doc, obj)
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
