package apiserver

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Server-side apply, as endpoints/handlers/patch.go (applyPatcher) does it.

// apply merges what the request says into an object, or creates the object.
func (w *write) apply(sub string) (*Response, error) {
	old, exists := w.lookup(w.info.Name)
	if !exists && sub != "" {
		return nil, w.notFound()
	}
	draft, err := w.mergeApplied(old, sub)
	if err != nil {
		return nil, err
	}
	if uid := draft.Meta.UID; !exists && uid != "" {
		return nil, apierrors.NewConflict(w.kind.GroupResource(), w.info.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := w.matchNamespace(draft.Meta); err != nil {
		return nil, err
	}
	if err := w.matchName(draft.Meta); err != nil {
		return nil, err
	}
	return w.asApplied().store(draft, old, sub)
}

// asApplied is the write once an apply has made its draft.
func (w *write) asApplied() *write {
	out := *w
	out.applied = true
	return &out
}

// mergeApplied is the object after the apply, with its new ownership; old is nil when there is none
// yet.
func (w *write) mergeApplied(old *object.Object, sub string) (*object.Object, error) {
	configuration, plain, err := w.readApply()
	if err != nil {
		return nil, err
	}
	out, err := w.ver.MergeApplied(old, configuration, sub, w.applier())
	if err != nil {
		return nil, err
	}
	if err := w.checkStrict(plain); err != nil {
		return nil, err
	}
	return w.decoder().AppliedDraft(out, w.ver)
}

func (w *write) applier() object.Applier {
	return object.Applier{Manager: w.manager, Force: w.force, Now: w.s.now()}
}

// readApply reads the applied configuration, which is YAML or, from most clients, JSON. It is plain
// when it is JSON without repeated fields.
func (w *write) readApply() (configuration *unstructured.Unstructured, plain bool, err error) {
	configuration = &unstructured.Unstructured{Object: map[string]any{}}
	// The server's YAML has neither the halves that JSON may write a character as, nor its other
	// way to write a slash.
	escapes := slices.ContainsFunc([]string{`\ud`, `\uD`, `\/`},
		func(s string) bool { return bytes.Contains(w.body, []byte(s)) })
	if strict, err := kjson.UnmarshalStrict(w.body, &configuration.Object); err == nil && len(strict) == 0 &&
		configuration.Object != nil && !escapes {
		return configuration, true, nil
	}
	configuration.Object = map[string]any{}
	if err := yaml.Unmarshal(w.body, &configuration.Object); err != nil {
		return nil, false, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return configuration, false, nil
}

// checkStrict looks for repeated fields in an applied configuration.
func (w *write) checkStrict(plain bool) error {
	if plain || w.validation == metav1.FieldValidationIgnore {
		return nil
	}
	err := yaml.UnmarshalStrict(w.body, &map[string]any{})
	switch {
	case err == nil:
	case w.validation == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
	default:
		// The decoder's lines are warnings of their own (endpoints/handlers/rest.go,
		// parseYAMLWarnings).
		text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: unmarshal errors:\n")
		for line := range strings.SplitSeq(text, "\n") {
			w.warn(strings.TrimSpace(line))
		}
	}
	return nil
}
