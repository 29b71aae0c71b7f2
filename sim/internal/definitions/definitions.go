// Package definitions reads custom resource definitions and webhook configurations, from objects
// and from files of YAML. A file is parsed once, however many worlds install it.
package definitions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Definition is a custom resource definition or a webhook configuration.
type Definition struct {
	// From is the file that the definition comes from, or what the scenario gave it to.
	From string
	// Object is a *CustomResourceDefinition, *MutatingWebhookConfiguration or
	// *ValidatingWebhookConfiguration. It may be shared, so it must not be changed.
	Object client.Object
}

// Key names a definition. It is unique in a cluster.
type Key struct{ Group, Kind, Name string }

// IsDefinition reports whether an object is a definition.
func IsDefinition(obj client.Object) bool {
	switch obj.(type) {
	case *admissionregv1.MutatingWebhookConfiguration, *admissionregv1.ValidatingWebhookConfiguration,
		*apiextensionsv1.CustomResourceDefinition:
		return true
	}
	return false
}

// Key is the definition's key.
func (d Definition) Key() Key {
	switch d.Object.(type) {
	case *admissionregv1.MutatingWebhookConfiguration:
		return Key{admissionregv1.GroupName, "MutatingWebhookConfiguration", d.Object.GetName()}
	case *admissionregv1.ValidatingWebhookConfiguration:
		return Key{admissionregv1.GroupName, "ValidatingWebhookConfiguration", d.Object.GetName()}
	}
	return Key{apiextensionsv1.GroupName, "CustomResourceDefinition", d.Object.GetName()}
}

// Same reports whether two definitions mean the same to a server. Labels and annotations do not
// count.
func (d Definition) Same(o Definition) bool {
	return d.Object == o.Object || equality.Semantic.DeepEqual(d.content(), o.content())
}

func (d Definition) content() any {
	switch obj := d.Object.(type) {
	case *admissionregv1.MutatingWebhookConfiguration:
		return obj.Webhooks
	case *admissionregv1.ValidatingWebhookConfiguration:
		return obj.Webhooks
	case *apiextensionsv1.CustomResourceDefinition:
		return &obj.Spec
	}
	return d.Object
}

// Of returns the definitions that an argument of w.Install stands for: a file, a directory, an
// object, or a list of CustomResourceDefinitions.
func Of(arg any) ([]Definition, error) {
	const from = "an object given to w.Install"
	switch arg := arg.(type) {
	case *apiextensionsv1.CustomResourceDefinition:
		return []Definition{{from, arg}}, nil
	case []*apiextensionsv1.CustomResourceDefinition:
		var out []Definition
		for _, crd := range arg {
			out = append(out, Definition{from, crd})
		}
		return out, nil
	case *admissionregv1.MutatingWebhookConfiguration:
		return []Definition{{from, arg.DeepCopy()}}, nil
	case *admissionregv1.ValidatingWebhookConfiguration:
		return []Definition{{from, arg.DeepCopy()}}, nil
	case string:
		out, err := read(arg)
		if err != nil {
			return nil, fmt.Errorf("w.Install(%q): %w", arg, err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("w.Install was given a %T; give it a directory, a file, or "+
		"*apiextensionsv1.CustomResourceDefinition, *admissionregv1.MutatingWebhookConfiguration or "+
		"*admissionregv1.ValidatingWebhookConfiguration objects", arg)
}

// Files are the file of a path, or the YAML and JSON files of a directory, in order.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	var files []string
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		found, _ := filepath.Glob(filepath.Join(path, pattern))
		files = append(files, found...)
	}
	sort.Strings(files)
	return files, nil
}

// read reads the definitions in a file, or in the YAML and JSON files of a directory.
func read(path string) ([]Definition, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	var out []Definition
	for _, f := range files {
		found, err := readFile(f)
		if err != nil {
			return nil, err
		}
		out = slices.Concat(out, found)
	}
	if len(out) == 0 {
		return nil, errors.New("no CustomResourceDefinition found there (in *.yaml, *.yml or *.json; directories " +
			"below are not looked into), and no configuration of webhooks; w.Apply takes objects of all other kinds")
	}
	return out, nil
}
