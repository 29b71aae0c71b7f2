package scaffold

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/krusty"
	kustomize "sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// deployment owns the objects that decide about the environment of the manager.
type deployment struct {
	workloads  []workload
	configMaps map[string]map[string]string // data by name
	namespaces map[string]string            // that kustomizations set, by their directory
	lacking    bool                         // a kustomization names what is not in the module
	arguments  arguments                    // of the manager
}

// workload is an object of YAML, as far as it is read.
type workload struct {
	file     string
	Kind     string
	Metadata struct{ Name, Namespace string }
	Data     map[string]string
	Spec     struct {
		Template struct {
			Spec struct {
				ServiceAccountName string
				Containers         []container
			}
		}
	}
}

type container struct {
	Name          string
	Command, Args []string
	Env           []variable
	EnvFrom       []struct{ ConfigMapRef struct{ Name string } }
}

// variable is a variable as a container has it.
type variable struct {
	Name, Value string
	ValueFrom   *struct {
		FieldRef        *struct{ FieldPath string }
		ConfigMapKeyRef *struct{ Name, Key string }
	}
}

// add notes the Deployments and the ConfigMaps of a file.
func (d *deployment) add(file, text string) {
	for doc := range strings.SplitSeq("\n"+text, "\n---") {
		o := workload{file: file}
		if !strings.Contains(doc, "kind:") || yaml.Unmarshal([]byte(doc), &o) != nil {
			continue
		}
		switch o.Kind {
		case "Deployment", "StatefulSet":
			d.workloads = append(d.workloads, o)
		case "ConfigMap":
			d.configMaps[o.Metadata.Name] = o.Data
		}
	}
}

// build reads what kustomize makes of a directory, with patches, images and replacements, in place
// of the single files. Nothing changes if it does not build or has no Deployment.
func (d *deployment) build(root, dir string) error {
	o := krusty.MakeDefaultOptions()
	o.LoadRestrictions = kustomize.LoadRestrictionsNone
	built, err := krusty.MakeKustomizer(o).Run(filesys.MakeFsOnDisk(), filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return err
	}
	files := d.workloads
	d.workloads = nil
	for _, r := range built.Resources() {
		if slices.Contains([]string{"Deployment", "StatefulSet", "ConfigMap"}, r.GetKind()) {
			d.add(dir, r.MustYaml())
		}
	}
	if len(d.workloads) == 0 {
		d.workloads = files
	}
	return nil
}

var (
	directive = regexp.MustCompile(`(?m)^\s*\{\{.*\}\}\s*$\n?`)
	inserted  = regexp.MustCompile(`\{\{-?\s*(\S+)[^}]*\}\}`)
)

// withoutTemplates is a template of a chart with the values of values.yaml. Conditions are taken as
// true.
func (d *deployment) withoutTemplates(root, file, text string) string {
	values := map[string]any{}
	data, _ := os.ReadFile(filepath.Join(root, path.Dir(path.Dir(file)), "values.yaml"))
	_ = yaml.Unmarshal(data, &values)
	return inserted.ReplaceAllStringFunc(directive.ReplaceAllString(text, ""), func(s string) string {
		name := inserted.FindStringSubmatch(s)[1]
		switch name {
		case ".Release.Namespace":
			return d.namespace()
		case ".Release.Name", ".Chart.Name":
			return path.Base(path.Dir(path.Dir(file)))
		}
		var at any = values
		for part := range strings.SplitSeq(strings.TrimPrefix(name, ".Values."), ".") {
			of, _ := at.(map[string]any)
			at = of[part]
		}
		if at == nil || !strings.HasPrefix(name, ".Values.") {
			return ""
		}
		return fmt.Sprint(at)
	})
}

// namespace is where the operator runs: the namespace that config/default names, or else another
// kustomization.
func (d *deployment) namespace() string {
	if ns := d.namespaces["config/default"]; ns != "" {
		return ns
	}
	for _, dir := range slices.Sorted(maps.Keys(d.namespaces)) {
		return d.namespaces[dir]
	}
	return "default"
}

// environment finds the variables that the Deployment of the manager sets, as far as the code reads
// them, and notes the flags that it gives. Guesses say how values were found, or why they were not.
func (d *deployment) environment(reads map[string]bool) (set []Variable, guesses []string) {
	if len(d.workloads) == 0 {
		return nil, nil
	}
	i := slices.IndexFunc(d.workloads, func(w workload) bool { return strings.HasPrefix(w.file, "config/manager") })
	if i < 0 {
		i = slices.IndexFunc(d.workloads, func(w workload) bool { return w.manager().Name == "manager" })
	}
	of := &d.workloads[max(i, 0)]
	note := func(v Variable, why string) {
		if reads[v.Name] && why != "" {
			guesses = append(guesses, why)
		}
		if reads[v.Name] && v.Value != "" {
			set = append(set, v)
		}
	}
	all := map[string]string{}
	for _, c := range of.Spec.Template.Spec.Containers {
		for _, from := range c.EnvFrom {
			data := d.configMaps[from.ConfigMapRef.Name]
			for _, name := range slices.Sorted(maps.Keys(data)) {
				note(Variable{name, data[name]}, "")
				all[name] = data[name]
			}
		}
		for _, v := range c.Env {
			value, why := d.valueOf(v, of)
			note(Variable{v.Name, value}, why)
			all[v.Name] = value
		}
	}
	d.addArguments(of.manager(), all)
	return set, guesses
}

// valueOf is the value of a variable.
func (d *deployment) valueOf(v variable, of *workload) (value, why string) {
	switch {
	case v.ValueFrom == nil:
		return v.Value, ""
	case v.ValueFrom.ConfigMapKeyRef != nil:
		ref := v.ValueFrom.ConfigMapKeyRef
		value, ok := d.configMaps[ref.Name][ref.Key]
		if !ok {
			return "", fmt.Sprintf("%s is not set, because no file has %s of ConfigMap %s, from which %s takes it: "+
				"set it with t.Setenv", v.Name, ref.Key, ref.Name, of.file)
		}
		return value, ""
	case v.ValueFrom.FieldRef != nil:
		field := v.ValueFrom.FieldRef.FieldPath
		if v.Name == "WATCH_NAMESPACE" && field == "metadata.namespace" {
			return "default", "WATCH_NAMESPACE is default, where the samples are applied, " +
				"and not the operator's namespace"
		}
		value := map[string]string{
			"metadata.namespace":      d.namespace(),
			"metadata.name":           cmp.Or(of.Metadata.Name, "operator") + "-0",
			"spec.serviceAccountName": cmp.Or(of.Spec.Template.Spec.ServiceAccountName, "default"),
			"spec.nodeName":           "node",
			"status.podIP":            "10.0.0.1",
			"status.hostIP":           "10.0.0.2",
		}[field]
		if value != "" {
			return value, fmt.Sprintf("%s is %s, because %s takes it from %s of the Pod", v.Name, value, of.file, field)
		}
	}
	return "", fmt.Sprintf("%s is not set, because %s takes it from what is not known: set it with t.Setenv", v.Name,
		of.file)
}
