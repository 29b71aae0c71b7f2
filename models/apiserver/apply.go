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

// application is a write that applies a configuration.
type application struct {
	*write
	configuration *unstructured.Unstructured
	// plain reports whether the configuration is JSON without repeated fields.
	plain bool
}

// serveApply merges what the request says into an object, or creates the object.
func serveApply(w *write, sub string) (*Response, error) {
	old, exists := w.lookup(w.info.Name)
	if !exists && sub != "" {
		return nil, w.notFound()
	}
	draft, err := (&application{write: w}).merge(old, sub)
	if err != nil {
		return nil, err
	}
	if uid := draft.Meta.UID; !exists && uid != "" {
		return nil, apierrors.NewConflict(w.kind.GroupResource(), w.info.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := w.info.matchNamespace(draft.Meta); err != nil {
		return nil, err
	}
	if err := w.info.matchName(draft.Meta); err != nil {
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

// merge is the object after the apply, with its new ownership; old is nil when there is none
// yet.
func (a *application) merge(old *object.Object, sub string) (*object.Object, error) {
	if err := a.read(); err != nil {
		return nil, err
	}
	out, err := a.ver.MergeApplied(old, a.configuration, sub, a.applier())
	if err != nil {
		return nil, err
	}
	if err := a.checkStrict(); err != nil {
		return nil, err
	}
	return a.decoder().AppliedDraft(out, a.ver)
}

func (a *application) applier() object.Applier {
	return object.Applier{Manager: a.manager, Force: a.force, Now: a.s.now()}
}

// read reads the applied configuration, which is YAML or, from most clients, JSON.
func (a *application) read() error {
	a.configuration = &unstructured.Unstructured{Object: map[string]any{}}
	// The server's YAML has neither the halves that JSON may write a character as, nor its other
	// way to write a slash.
	escapes := slices.ContainsFunc([]string{`\ud`, `\uD`, `\/`},
		func(s string) bool { return bytes.Contains(a.body, []byte(s)) })
	if strict, err := kjson.UnmarshalStrict(a.body, &a.configuration.Object); err == nil && len(strict) == 0 &&
		a.configuration.Object != nil && !escapes {
		a.plain = true
		return nil
	}
	a.configuration.Object = map[string]any{}
	if err := yaml.Unmarshal(a.body, &a.configuration.Object); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return nil
}

// checkStrict looks for repeated fields in an applied configuration.
func (a *application) checkStrict() error {
	if a.plain || a.validation == metav1.FieldValidationIgnore {
		return nil
	}
	err := yaml.UnmarshalStrict(a.body, &map[string]any{})
	switch {
	case err == nil:
	case a.validation == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
	default:
		// The decoder's lines are warnings of their own (endpoints/handlers/rest.go,
		// parseYAMLWarnings).
		text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: unmarshal errors:\n")
		for line := range strings.SplitSeq(text, "\n") {
			a.warn(strings.TrimSpace(line))
		}
	}
	return nil
}
