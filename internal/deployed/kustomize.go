package deployed

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

// kustomization is what a kustomization says that can change the objects that matter.
type kustomization struct {
	Kind                              string
	Namespace, NamePrefix, NameSuffix string
	Resources, Bases, Components      []string
	Patches, PatchesJSON6902          []patch
	PatchesStrategicMerge             []string
	Replacements                      []replacement

	Transformers, HelmCharts []any
}

type patch struct {
	Path, Patch string
	Target      *struct{ Kind, Name, LabelSelector, AnnotationSelector string }
}

type replacement struct {
	Path    string
	Targets []struct{ Select struct{ Kind string } }
}

// kustomizationIn is the kustomization of a directory; "" if it has none.
func kustomizationIn(dir string) string {
	for _, name := range []string{"kustomization.yaml", "kustomization.yml", "Kustomization"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// build returns the objects of a kustomization, after those that are there already.
func build(file string, all set) (set, error) {
	var k kustomization
	data, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(data, &k)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := k.refuse(); err != nil {
		return nil, fmt.Errorf("%s: %w; write what kustomize build prints to a file, and name that", file, err)
	}
	dir := filepath.Dir(file)
	for _, r := range slices.Concat(k.Resources, k.Bases) {
		found, err := resource(dir, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, found...)
	}
	for _, c := range k.Components {
		of := kustomizationIn(filepath.Join(dir, c))
		if of == "" {
			return nil, fmt.Errorf("%s: the component %s has no kustomization.yaml", file, c)
		}
		if all, err = build(of, all); err != nil {
			return nil, err
		}
	}
	if all, err = k.patch(dir, all); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	k.rename(all)
	return all, nil
}

// refuse is an error if the kustomization does something to the objects that is not done here.
func (k *kustomization) refuse() error {
	switch {
	case len(k.Transformers) > 0:
		return fmt.Errorf("its transformers are not read")
	case len(k.HelmCharts) > 0:
		return fmt.Errorf("its helmCharts are not read")
	}
	for _, r := range k.Replacements {
		for _, t := range r.Targets {
			if slices.Contains(kinds, t.Select.Kind) {
				return fmt.Errorf("its replacements in a %s are not read", t.Select.Kind)
			}
		}
	}
	return nil
}

// resource reads a file or builds a directory that a kustomization names.
func resource(dir, r string) (set, error) {
	path := filepath.Join(dir, filepath.FromSlash(r))
	info, err := os.Stat(path)
	switch {
	case err != nil && (strings.Contains(r, "://") || strings.Contains(r, "?") || strings.HasPrefix(r, "github.com/")):
		return nil, fmt.Errorf("the resource %s is not in this repository; write what kustomize build prints to a "+
			"file, and name that", r)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return readFile(path)
	}
	file := kustomizationIn(path)
	if file == "" {
		return nil, fmt.Errorf("the resource %s has no kustomization.yaml", r)
	}
	return build(file, nil)
}

// rename moves objects to the kustomization's namespace, and completes their names.
func (k *kustomization) rename(all set) {
	for _, o := range all {
		o.was = append(o.was, name{o.Namespace(), o.Name()})
		isNamespace := o.Kind() == "Namespace"
		if k.Namespace != "" && o.isNamespaced() {
			o.setMeta("namespace", k.Namespace)
		}
		switch {
		case isNamespace && k.Namespace != "":
			o.setMeta("name", k.Namespace)
		case !isNamespace:
			o.setMeta("name", k.NamePrefix+o.Name()+k.NameSuffix)
		}
	}
}

// patch applies the patches to the objects.
func (k *kustomization) patch(dir string, all set) (set, error) {
	patches := slices.Concat(k.Patches, k.PatchesJSON6902)
	for _, p := range k.PatchesStrategicMerge {
		if strings.Contains(p, "\n") {
			patches = append(patches, patch{Patch: p})
		} else {
			patches = append(patches, patch{Path: p})
		}
	}
	for _, p := range patches {
		text := []byte(p.Patch)
		if p.Path != "" {
			var err error
			if text, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(p.Path))); err != nil {
				return nil, err
			}
		}
		var err error
		if all, err = p.apply(text, all); err != nil {
			return nil, fmt.Errorf("patch %s: %w", p.Path, err)
		}
	}
	return all, nil
}

// apply applies a patch: a list of operations for the objects of its target, or objects, each of
// which changes the one of its name or that of the target.
func (p *patch) apply(text []byte, all set) (set, error) {
	data, err := yaml.YAMLToJSON(text)
	if err == nil && len(data) > 0 && data[0] == '[' {
		return all, p.operate(data, all)
	}
	changes, err := parse(text)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		of := func(o *object) bool {
			return o.Kind() == change.Kind() && slices.Contains(append(o.was, name{o.Namespace(), o.Name()}),
				name{o.Namespace(), change.Name()})
		}
		if p.Target != nil {
			of = p.selects
		}
		if at[string](change.Object, "$patch") == "delete" {
			all = slices.DeleteFunc(all, of)
			continue
		}
		for _, o := range all {
			if of(o) {
				merged := merge(o.Object, change.Object)
				merged["metadata"], merged["kind"] = o.Object["metadata"], o.Object["kind"]
				o.Object = merged
			}
		}
	}
	return all, nil
}

// operate applies a JSON patch. It may fail for a workload, of which only the account is read.
func (p *patch) operate(data []byte, all set) error {
	operations, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return err
	}
	for _, o := range all {
		if !p.selects(o) {
			continue
		}
		before, err := json.Marshal(o.Object)
		if err != nil {
			return err
		}
		after, err := operations.Apply(before)
		if err != nil && slices.Contains(workloads, o.Kind()) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", o, err)
		}
		o.Object = nil
		if err := json.Unmarshal(after, &o.Object); err != nil {
			return err
		}
	}
	return nil
}

// selects reports whether the target of a patch selects an object.
func (p *patch) selects(o *object) bool {
	t := p.Target
	if t == nil || !o.matches("labels", t.LabelSelector) || !o.matches("annotations", t.AnnotationSelector) {
		return false
	}
	all := func(pattern, of string) bool {
		ok, err := regexp.MatchString("^(?:"+pattern+")$", of)
		return pattern == "" || err == nil && ok
	}
	return all(t.Kind, o.Kind()) && slices.ContainsFunc(append(o.was, name{o.Namespace(), o.Name()}),
		func(n name) bool { return all(t.Name, n.name) })
}

// matches reports whether a selector selects the object by its labels or its annotations.
func (o *object) matches(field, selector string) bool {
	s, err := labels.Parse(selector)
	if err != nil {
		return false
	}
	set := labels.Set{}
	for k, v := range at[map[string]any](o.Object, "metadata", field) {
		set[k], _ = v.(string)
	}
	return s.Matches(set)
}

// merge applies a merge patch. Lists are replaced, as the rules and subjects of these kinds are.
func merge(to, change map[string]any) map[string]any {
	out := map[string]any{}
	for key, v := range to {
		out[key] = v
	}
	for key, v := range change {
		sub, isMap := v.(map[string]any)
		was, wasMap := out[key].(map[string]any)
		switch {
		case v == nil:
			delete(out, key)
		case isMap && wasMap:
			out[key] = merge(was, sub)
		default:
			out[key] = v
		}
	}
	return out
}
