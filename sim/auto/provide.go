package auto

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// This file is for what a program has looked for and not found: a Secret that a field names, a
// ConfigMap with a fixed name. Users create it where the program looked.

// provide creates what a program has looked for, or changes or deletes what users have provided.
func (u *users) provide(a action) string {
	all := u.lookedFor()
	if len(all) == 0 {
		return ""
	}
	ref := all[a.nth%len(all)]
	i := slices.IndexFunc(u.subjects, func(s *subject) bool { return s.provided && s.ref() == ref })
	if i < 0 || u.wanted[i] == nil {
		said, _ := u.provideAt(ref, a.value)
		return said
	}
	s := u.subjects[i]
	switch {
	case a.field == 0 || len(s.fields) == 0:
		return u.remove(i)
	}
	a.subject = i
	return u.change(a, a.field%len(s.fields))
}

// maxRounds is how often users create what is missing: a program may look for one object after
// another.
const maxRounds = 3

// provideAll creates what programs have looked for while a reconcile of a user's object fails in
// the quiescent world.
func (u *users) provideAll() {
	for range maxRounds {
		created := false
		if u.world.Failing() {
			for _, ref := range u.lookedFor() {
				if !slices.ContainsFunc(u.subjects, func(s *subject) bool { return s.ref() == ref }) {
					said, i := u.provideAt(ref, 0)
					u.world.Drew("begin", said)
					created = created || u.wanted[i] != nil
				}
			}
		}
		if !created {
			return
		}
		u.world.Settle()
	}
}

// prerequisitesIn are the objects that users have created in a run because a program looked for
// them.
func (u *users) prerequisitesIn(h *history.History) (out []history.Ref) {
	if h == nil {
		return nil
	}
	known := map[history.Ref]bool{}
	for _, s := range u.subjects {
		known[s.ref()] = true
	}
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			_, there := u.world.History().Find(c.Ref)
			if e.Process == run.User && c.Type == "ADDED" && c.Ref.Kind != "Namespace" && !there && !known[c.Ref] {
				known[c.Ref] = true
				out = append(out, c.Ref)
			}
		}
	}
	return out
}

// provideAt creates what a program has looked for, and its namespace if that does not exist.
func (u *users) provideAt(ref history.Ref, variant int) (said string, at int) {
	i := slices.IndexFunc(u.subjects, func(s *subject) bool { return s.provided && s.ref() == ref })
	if i < 0 {
		i = len(u.subjects)
		u.subjects = append(u.subjects, u.subjectAt(ref, variant))
		u.drawn.settings = append(u.drawn.settings, nil)
	}
	made := u.make(i)
	if made == refused && ref.Namespace != "" {
		if u.apply(namespaceOf(ref)) == nil {
			made = u.make(i)
		}
	}
	return fmt.Sprintf("create %s, which a program looked for: %s", u.subjects[i], made), i
}

// namespaceOf is the manifest of an object's namespace.
func namespaceOf(ref history.Ref) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	o.SetName(ref.Namespace)
	return o
}

// lookedFor are the objects that programs have looked for and that only users have made so far:
// Secrets, ConfigMaps, Nodes and objects of kinds with a definition.
func (u *users) lookedFor() (out []history.Ref) {
	h := u.world.History()
	made := map[history.Ref]bool{}
	for i := range h.Events {
		e := &h.Events[i]
		if e.Kind == history.Request && e.Incarnation > 0 && (e.Verb == "create" || e.Verb == "patch") {
			ref := e.Ref
			ref.Name = history.NameIn(e.Sent)
			made[e.Ref], made[ref] = true, true // or it was refused
		}
		for _, c := range e.Changes {
			made[c.Ref] = true
		}
	}
	for _, s := range u.subjects {
		made[s.ref()] = !s.provided
	}
	for _, ref := range u.world.LookedFor() {
		node := ref.Group == "" && ref.Kind == "Node"
		if !made[ref] && (node || holdsData(ref) || u.definitionOf(ref) != nil) {
			out = append(out, ref)
		}
	}
	return out
}

// holdsData reports whether an object is a Secret or a ConfigMap.
func holdsData(ref history.Ref) bool {
	return ref.Group == "" && (ref.Kind == "Secret" || ref.Kind == "ConfigMap")
}

// ref is the subject as the history knows it.
func (s *subject) ref() history.Ref {
	return history.Ref{Group: s.Group, Kind: s.Kind, Namespace: s.namespace, Name: s.name}
}

func (u *users) definitionOf(ref history.Ref) *kind {
	for _, crd := range u.world.Definitions() {
		if k := kindOf(crd); k != nil && k.Group == ref.Group && k.Kind == ref.Kind {
			return k
		}
	}
	return nil
}

// subjectAt is what users create where a program looked.
func (u *users) subjectAt(ref history.Ref, variant int) *subject {
	if k := u.definitionOf(ref); k != nil {
		return &subject{kind: k, namespace: ref.Namespace, name: ref.Name, provided: true}
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: ref.Kind})
	o.SetNamespace(ref.Namespace)
	o.SetName(ref.Name)
	if set := u.selected(ref.Kind); len(set) > 0 {
		o.SetLabels(set)
	}
	if !holdsData(ref) {
		s := u.sampleOf(o, nil)
		s.given, s.provided = false, true
		return s
	}
	data := map[string]any{}
	for _, key := range u.keys() {
		data[key] = another("", ref.Kind == "Secret", variant)
	}
	o.Object["data"] = data
	s := u.sampleOf(o, nil)
	s.given, s.provided = false, true
	return s
}

// usualKeys are what the values of Secrets and ConfigMaps are often called.
var usualKeys = []string{"ca.crt", "key", "password", "tls.crt", "tls.key", "token", "username", "value"}

// dataKey is what the server takes for a key.
var dataKey = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

// keys are the usual ones and those that users' objects name in fields like secretKeyRef.key.
func (u *users) keys() []string {
	out := slices.Clone(usualKeys)
	for _, o := range u.wanted {
		walk(o.Object, func(field string, v any) {
			key, _ := v.(string)
			if strings.HasSuffix(strings.ToLower(field), "key") && dataKey.MatchString(key) {
				out = append(out, key)
			}
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}
