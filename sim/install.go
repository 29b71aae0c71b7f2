// This file exists to bring an operator's custom resource definitions and the configurations of its webhooks into a world, fast
// enough for thousands of worlds.

package sim

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"sync"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Install adds custom resource definitions and webhook configurations: directories or files of YAML, or objects, as envtest
// takes them. The manager that registers a webhook's path serves it, whatever Service the configuration names, if [Serves]
// says nothing else. What else is in the files is not looked at.
//
// Install adds and never replaces. A definition or configuration whose name another one has is refused, because a real
// cluster would drop the first: kubebuilder calls the webhook configurations of every operator alike until kustomize gives
// them its namePrefix. What is the same may be installed twice. To change what is installed, use [World.Apply].
func (w *World) Install(crds ...any) {
	w.alive()
	w.install(w.wire.Server(), w.user, crds)
}

func (w *World) install(server *apiserver.Server, user *userClient, args []any) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	var hooks []client.Object
	given := map[definitionKey]definition{}
	for _, arg := range args {
		found := w.definitionsIn(arg)
		for _, d := range found.all {
			w.refuseReplacing(server, user, given, d)
			given[d.key()] = d
		}
		crds = append(crds, found.crds...)
		for _, h := range found.hooks {
			hooks = append(hooks, h.DeepCopyObject().(client.Object))
		}
	}
	maps.Copy(user.declared, given)
	if err := server.Install(crds...); err != nil {
		w.misuse("w.Install: %v", err)
	}
	w.apply(user, hooks)
}

// definitionsIn reads an argument of Install.
func (w *World) definitionsIn(arg any) (out definitionFile) {
	const from = "an object given to w.Install"
	switch arg := arg.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		out.keep(from, arg)
	case []*apiextensionsv1.CustomResourceDefinition:
		for _, crd := range arg {
			out.keep(from, crd)
		}
	case *admissionregv1.MutatingWebhookConfiguration:
		out.keep(from, arg.DeepCopy())
	case *admissionregv1.ValidatingWebhookConfiguration:
		out.keep(from, arg.DeepCopy())
	case string:
		var err error
		if out, err = readDefinitions(arg); err != nil {
			w.misuse("w.Install(%q): %v", arg, err)
		}
	default:
		w.misuse("w.Install was given a %T; give it a directory, a file, or *apiextensionsv1.CustomResourceDefinition, "+
			"*admissionregv1.MutatingWebhookConfiguration or *admissionregv1.ValidatingWebhookConfiguration objects", arg)
	}
	return out
}

// readDefinitions reads every CustomResourceDefinition and webhook configuration in a file or a directory of YAML or JSON files.
func readDefinitions(path string) (out definitionFile, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return out, err
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
	for _, f := range files {
		found, err := readFile(f)
		if err != nil {
			return out, err
		}
		out.crds = append(out.crds, found.crds...)
		out.hooks = append(out.hooks, found.hooks...)
		out.all = append(out.all, found.all...)
	}
	if len(out.crds)+len(out.hooks) == 0 {
		return out, errors.New("no CustomResourceDefinition found there (in *.yaml, *.yml or *.json; directories below are not looked into), " +
			"and no configuration of webhooks; w.Apply takes objects of all other kinds")
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
	text  []byte
	crds  []*apiextensionsv1.CustomResourceDefinition
	hooks []client.Object
	all   []definition
}

// keep adds an object, and where it is from.
func (f *definitionFile) keep(from string, obj client.Object) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		f.crds = append(f.crds, crd)
	} else {
		f.hooks = append(f.hooks, obj)
	}
	f.all = append(f.all, definition{from, obj})
}

// readFile reads the definitions in one file of YAML or JSON, or knows them if its text is what it was.
func readFile(path string) (definitionFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return definitionFile{}, err
	}
	definitions.Lock()
	defer definitions.Unlock()
	if known, ok := definitions.in[path]; ok && bytes.Equal(known.text, text) {
		return known, nil
	}
	out := definitionFile{text: text}
	for _, doc := range splitYAML(text) {
		var meta metav1.PartialObjectMetadata
		if err := yaml.Unmarshal(doc, &meta); err != nil {
			return out, fmt.Errorf("%s: %w", path, err)
		}
		if err := out.add(path, doc, meta); err != nil {
			return out, fmt.Errorf("%s: %w", path, err)
		}
	}
	definitions.in[path] = out
	return out, nil
}

// add reads one document.
func (f *definitionFile) add(path string, doc []byte, meta metav1.PartialObjectMetadata) error {
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
		return nil
	}
	if meta.APIVersion != v.String() {
		return fmt.Errorf("%s %s has apiVersion %q; a server knows %s alone", what, meta.Name, meta.APIVersion, v)
	}
	f.keep(path, obj)
	return yaml.Unmarshal(doc, obj)
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
