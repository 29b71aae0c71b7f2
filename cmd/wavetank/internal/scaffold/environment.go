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

	"sigs.k8s.io/yaml"
)

// deployment are the objects that decide about the environment of the manager.
type deployment struct {
	workloads  []workload
	configMaps map[string]map[string]string // data by name
	namespaces map[string]string            // that kustomizations set, by their directory
	prefixes   map[string]string
	arguments  arguments // of the manager
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

// workload notes the Deployments and the ConfigMaps of a file.
func (p *Project) workload(file, text string) {
	for doc := range strings.SplitSeq("\n"+text, "\n---") {
		o := workload{file: file}
		if !strings.Contains(doc, "kind:") || yaml.Unmarshal([]byte(doc), &o) != nil {
			continue
		}
		switch o.Kind {
		case "Deployment", "StatefulSet":
			p.deployed.workloads = append(p.deployed.workloads, o)
		case "ConfigMap":
			p.deployed.configMaps[o.Metadata.Name] = o.Data
		}
	}
}

var (
	directive = regexp.MustCompile(`(?m)^\s*\{\{.*\}\}\s*$\n?`)
	inserted  = regexp.MustCompile(`\{\{-?\s*(\S+)[^}]*\}\}`)
)

// withoutTemplates is a template of a chart with the values of values.yaml. Conditions are taken as
// true.
func (p *Project) withoutTemplates(file, text string) string {
	values := map[string]any{}
	data, _ := os.ReadFile(filepath.Join(p.Root, path.Dir(path.Dir(file)), "values.yaml"))
	_ = yaml.Unmarshal(data, &values)
	return inserted.ReplaceAllStringFunc(directive.ReplaceAllString(text, ""), func(s string) string {
		name := inserted.FindStringSubmatch(s)[1]
		switch name {
		case ".Release.Namespace":
			return p.Namespace()
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

// Namespace is where the operator runs: the namespace that config/default names, or else another
// kustomization.
func (p *Project) Namespace() string {
	if ns := p.deployed.namespaces["config/default"]; ns != "" {
		return ns
	}
	for _, dir := range slices.Sorted(maps.Keys(p.deployed.namespaces)) {
		return p.deployed.namespaces[dir]
	}
	return "default"
}

// environment finds the variables that the Deployment of the manager sets, as far as the code reads
// them, and the flags that it gives.
func (p *Project) environment() {
	var of *workload
	for i, w := range p.deployed.workloads {
		inManager := strings.HasPrefix(w.file, "config/manager")
		if of == nil || inManager && !strings.HasPrefix(of.file, "config/manager") {
			of = &p.deployed.workloads[i]
		}
	}
	if of == nil {
		return
	}
	all := map[string]string{}
	for _, c := range of.Spec.Template.Spec.Containers {
		for _, from := range c.EnvFrom {
			data := p.configMap(from.ConfigMapRef.Name)
			for _, name := range slices.Sorted(maps.Keys(data)) {
				p.setVariable(Variable{name, data[name]}, "")
				all[name] = data[name]
			}
		}
		for _, v := range c.Env {
			value, why := p.valueOf(v, of)
			p.setVariable(Variable{v.Name, value}, why)
			all[v.Name] = value
		}
	}
	p.arguments(of.manager(), all)
}

// setVariable notes a variable that the code reads. Why says how its value was found, or why it was
// not.
func (p *Project) setVariable(v Variable, why string) {
	if !p.reads[v.Name] {
		return
	}
	if why != "" {
		p.guessed = append(p.guessed, why)
	}
	if v.Value != "" {
		p.Environment = append(p.Environment, v)
	}
}

func (p *Project) configMap(name string) map[string]string {
	return p.deployed.configMaps[name]
}

// valueOf is the value of a variable.
func (p *Project) valueOf(v variable, of *workload) (value, why string) {
	switch {
	case v.ValueFrom == nil:
		return v.Value, ""
	case v.ValueFrom.ConfigMapKeyRef != nil:
		ref := v.ValueFrom.ConfigMapKeyRef
		value, ok := p.configMap(ref.Name)[ref.Key]
		if !ok {
			return "", fmt.Sprintf("%s is not set, because no file has %s of ConfigMap %s, from which %s takes it: "+
				"set it with t.Setenv", v.Name, ref.Key, ref.Name, of.file)
		}
		return value, ""
	case v.ValueFrom.FieldRef != nil:
		field, prefix := v.ValueFrom.FieldRef.FieldPath, p.deployed.prefixes["config/default"]
		if v.Name == "WATCH_NAMESPACE" && field == "metadata.namespace" {
			return "default", "WATCH_NAMESPACE is default, where the samples are applied, " +
				"and not the operator's namespace"
		}
		value := map[string]string{
			"metadata.namespace":      p.Namespace(),
			"metadata.name":           prefix + cmp.Or(of.Metadata.Name, "operator") + "-0",
			"spec.serviceAccountName": prefix + cmp.Or(of.Spec.Template.Spec.ServiceAccountName, "default"),
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
