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
	"github.com/wavetank/wavetank/sim/internal/world"
)

// This file is for what a program has looked for and not found: a Secret that a field names, a
// ConfigMap with a fixed name. Users create it where the program looked.

// provider creates the objects that programs look for. It owns what of them is a subject.
type provider struct {
	*author
	subjects *[]*subject
}

// provide creates what a program has looked for, or changes or deletes what users have provided.
func (p *provider) provide(a action) string {
	all := p.lookedFor()
	if len(all) == 0 {
		return ""
	}
	ref := all[a.nth%len(all)]
	s := p.provided(ref)
	if s == nil || s.wanted == nil {
		said, _ := p.provideAt(ref, a.value)
		return said
	}
	if a.field == 0 || len(s.fields) == 0 {
		return p.remove(s)
	}
	return p.change(s, a.field%len(s.fields), a.value)
}

// provided is the subject that users have provided as an object; nil if there is none.
func (p *provider) provided(ref history.Ref) *subject {
	for _, s := range *p.subjects {
		if s.provided && s.ref() == ref {
			return s
		}
	}
	return nil
}

// maxRounds is how often users create what is missing: a program may look for one object after
// another.
const maxRounds = 3

// provideAll creates what programs have looked for while a reconcile of a user's object fails in
// the quiescent world.
func (p *provider) provideAll() {
	for range maxRounds {
		created := false
		if p.world.Failing() {
			for _, ref := range p.lookedFor() {
				if !slices.ContainsFunc(*p.subjects, func(s *subject) bool { return s.ref() == ref }) {
					said, s := p.provideAt(ref, 0)
					p.world.Drew("begin", said)
					created = created || s.wanted != nil
				}
			}
		}
		if !created {
			return
		}
		p.world.Settle()
	}
}

// prerequisites are the objects that users have created in a run because a program looked for them.
func (p *provider) prerequisites(h *history.History) (out []history.Ref) {
	if h == nil {
		return nil
	}
	known := map[history.Ref]bool{}
	for _, s := range *p.subjects {
		known[s.ref()] = true
	}
	for i := range h.Events {
		e := &h.Events[i]
		for _, c := range e.Changes {
			_, there := p.world.History().Find(c.Ref)
			if e.Process == run.User && c.Type == "ADDED" && c.Ref.Kind != "Namespace" && !there && !known[c.Ref] {
				known[c.Ref] = true
				out = append(out, c.Ref)
			}
		}
	}
	return out
}

// provideAt creates what a program has looked for, and its namespace if that does not exist.
func (p *provider) provideAt(ref history.Ref, variant int) (said string, s *subject) {
	if s = p.provided(ref); s == nil {
		s = p.subjectAt(ref, variant)
		*p.subjects = append(*p.subjects, s)
	}
	made := p.make(s)
	if made == refused && ref.Namespace != "" {
		if p.apply(namespaceOf(ref)) == nil {
			made = p.make(s)
		}
	}
	return fmt.Sprintf("create %s, which a program looked for: %s", s, made), s
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
func (p *provider) lookedFor() (out []history.Ref) {
	h := p.world.History()
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
	for _, s := range *p.subjects {
		made[s.ref()] = !s.provided
	}
	for _, ref := range p.world.LookedFor() {
		node := ref.Group == "" && ref.Kind == "Node"
		if !made[ref] && (node || holdsData(ref) || definitionOf(p.world, ref) != nil) {
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

func definitionOf(w *world.World, ref history.Ref) *kind {
	return byKind(definedKinds(w))[schema.GroupKind{Group: ref.Group, Kind: ref.Kind}]
}

// subjectAt is what users create where a program looked.
func (p *provider) subjectAt(ref history.Ref, variant int) *subject {
	if k := definitionOf(p.world, ref); k != nil {
		return &subject{kind: k, namespace: ref.Namespace, name: ref.Name, provided: true}
	}
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: ref.Kind})
	o.SetNamespace(ref.Namespace)
	o.SetName(ref.Name)
	if set := p.selected(ref.Kind); len(set) > 0 {
		o.SetLabels(set)
	}
	if holdsData(ref) {
		data := map[string]any{}
		for _, key := range p.keys() {
			data[key] = another("", ref.Kind == "Secret", variant)
		}
		o.Object["data"] = data
	}
	s := sampleOf(o, nil)
	s.given, s.provided = false, true
	return s
}

// usualKeys are what the values of Secrets and ConfigMaps are often called.
var usualKeys = []string{"ca.crt", "key", "password", "tls.crt", "tls.key", "token", "username", "value"}

// dataKey is what the server takes for a key.
var dataKey = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

// keys are the usual ones and those that users' objects name in fields like secretKeyRef.key.
func (p *provider) keys() []string {
	out := slices.Clone(usualKeys)
	for _, s := range *p.subjects {
		if s.wanted == nil {
			continue
		}
		walk(s.wanted.Object, func(field string, v any) {
			key, _ := v.(string)
			if strings.HasSuffix(strings.ToLower(field), "key") && dataKey.MatchString(key) {
				out = append(out, key)
			}
		})
	}
	slices.Sort(out)
	return slices.Compact(out)
}
