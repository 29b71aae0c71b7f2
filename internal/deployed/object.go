package deployed

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// Object is an object as JSON has it.
type Object map[string]any

// object is an object with the names that it has had, because others may refer to it by these.
type object struct {
	Object
	was []name
}

type name struct{ namespace, name string }

// set are objects that refer to one another.
type set []*object

func newObject(apiVersion, kind, namespace, name string) *object {
	meta := Object{"name": name}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	return &object{Object: Object{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any(meta)}}
}

// at returns the value at a path of keys, if it is of the type T.
func at[T any](o Object, path ...string) (v T) {
	var x any = map[string]any(o)
	for _, key := range path {
		m, _ := x.(map[string]any)
		x = m[key]
	}
	v, _ = x.(T)
	return v
}

// APIVersion is the object's group and version.
func (o Object) APIVersion() string { return at[string](o, "apiVersion") }

// Kind is the object's kind.
func (o Object) Kind() string { return at[string](o, "kind") }

// Name is the object's name.
func (o Object) Name() string { return at[string](o, "metadata", "name") }

// Namespace is the object's namespace; "" if it names none.
func (o Object) Namespace() string { return at[string](o, "metadata", "namespace") }

// String is "Kind namespace/name".
func (o Object) String() string {
	return strings.TrimSpace(o.Kind() + " " + strings.TrimPrefix(o.Namespace()+"/"+o.Name(), "/"))
}

func (o Object) setMeta(key, value string) {
	if meta := at[map[string]any](o, "metadata"); meta != nil {
		meta[key] = value
	}
}

func (o Object) isNamespaced() bool {
	return o.Kind() != "Namespace" && !strings.HasPrefix(o.Kind(), "Cluster")
}

// defaultNamespace puts an object that names no namespace into "default", as kubectl does. A
// subject without one is in that of its binding.
func (o Object) defaultNamespace() {
	if o.isNamespaced() && o.Namespace() == "" {
		o.setMeta("namespace", "default")
	}
	for _, account := range o.accounts() {
		if at[string](account, "namespace") == "" {
			account["namespace"] = o.Namespace()
		}
	}
}

// RunsAs is the account of a workload's Pods.
func (o Object) RunsAs() string {
	for _, field := range []string{"serviceAccountName", "serviceAccount"} {
		if name := at[string](o, "spec", "template", "spec", field); name != "" {
			return name
		}
	}
	return "default"
}

// accounts are the ServiceAccounts among the subjects of a binding.
func (o Object) accounts() (out []map[string]any) {
	for _, s := range at[[]any](o, "subjects") {
		if s, ok := s.(map[string]any); ok && at[string](s, "kind") == "ServiceAccount" && at[string](s, "name") != "" {
			out = append(out, s)
		}
	}
	return out
}

func (s set) has(kind, namespace, name string) bool {
	return slices.ContainsFunc(s, func(o *object) bool {
		return o.Kind() == kind && o.Name() == name && (o.Namespace() == namespace || kind == "Namespace")
	})
}

// called is the object that has or had a name and is in the right place, the one that has it before
// all others; nil if there is none.
func (s set) called(kind, as string, inPlace func(*object) bool) *object {
	var earlier *object
	for _, o := range s {
		switch {
		case o.Kind() != kind || !inPlace(o):
		case o.Name() == as:
			return o
		case earlier == nil && slices.ContainsFunc(o.was, func(n name) bool { return n.name == as }):
			earlier = o
		}
	}
	return earlier
}

// refer makes references follow the names that objects have now, as kustomize does: a subject means
// an account by the namespace that it has now, or had in its file.
func (s set) refer() {
	anywhere := func(*object) bool { return true }
	for _, o := range s {
		beside := func(other *object) bool { return other.Namespace() == o.Namespace() }
		if spec := at[map[string]any](o.Object, "spec", "template", "spec"); spec != nil {
			if account := s.called("ServiceAccount", o.RunsAs(), beside); account != nil {
				spec["serviceAccountName"] = account.Name()
			}
			continue
		}
		if ref := at[map[string]any](o.Object, "roleRef"); ref != nil {
			kind, inPlace := at[string](ref, "kind"), anywhere
			if kind == "Role" {
				inPlace = beside
			}
			if role := s.called(kind, at[string](ref, "name"), inPlace); role != nil {
				ref["name"] = role.Name()
			}
		}
		for _, subject := range o.accounts() {
			in := at[string](subject, "namespace")
			account := s.called("ServiceAccount", at[string](subject, "name"), func(a *object) bool {
				return in == "" || in == a.Namespace() || in == a.first()
			})
			if account != nil {
				subject["name"], subject["namespace"] = account.Name(), account.Namespace()
			}
		}
	}
}

// first is the namespace that an object had in its file.
func (o *object) first() string {
	if len(o.was) == 0 {
		return o.Namespace()
	}
	return cmp.Or(o.was[0].namespace, "default")
}

// template matches what makes a file a template of Helm's.
var template = regexp.MustCompile(`\{\{`)

var kindLine = regexp.MustCompile(`(?m)^kind:\s*["']?(\w+)`)

// TemplateError says that objects are in a template, which only its tool can read.
type TemplateError struct{ File, Kind string }

// Error implements error.
func (t *TemplateError) Error() string {
	return fmt.Sprintf("%s has a %s and is a template: write what helm template prints to a file, and name that",
		t.File, t.Kind)
}

// readFile reads the objects in a file that matter. Those of a List are read, too.
func readFile(file string) (set, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if template.Match(data) {
		for _, m := range kindLine.FindAllSubmatch(data, -1) {
			if slices.Contains(kinds, string(m[1])) {
				return nil, &TemplateError{file, string(m[1])}
			}
		}
		return nil, nil
	}
	out, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

func parse(data []byte) (out set, err error) {
	for _, doc := range documentMark.Split(string(data), -1) {
		o := &object{}
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			return nil, err
		}
		out = append(out, o.split()...)
	}
	return out, nil
}

var documentMark = regexp.MustCompile(`(?m)^---.*$`)

// split are the objects that matter in what was read as one.
func (o *object) split() (out set) {
	switch kind := o.Kind(); {
	case strings.HasSuffix(kind, "List"):
		for _, item := range at[[]any](o.Object, "items") {
			if item, ok := item.(map[string]any); ok {
				out = append(out, (&object{Object: item}).split()...)
			}
		}
	case kind == "ClusterServiceVersion":
		return bundle(o.Object)
	case slices.Contains(kinds, kind), slices.Contains(workloads, kind):
		return set{o}
	}
	return out
}
