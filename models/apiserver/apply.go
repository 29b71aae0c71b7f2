package apiserver

// Server-side apply, as endpoints/handlers/patch.go (applyPatcher) does it around apimachinery's field managers.

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sort"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	kjson "sigs.k8s.io/json"
)

// apply merges what the request says into an object, or creates the object.
func (c *call) apply(sub string) (*Response, error) {
	old, exists := c.lookup(c.info.Name)
	if !exists && sub != "" {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	draft, err := c.mergeApplied(old, sub)
	if err != nil {
		return nil, err
	}
	if uid := draft.meta.UID; !exists && uid != "" {
		return nil, apierrors.NewConflict(c.kind.groupResource(), c.info.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := c.matchNamespace(draft.meta); err != nil {
		return nil, err
	}
	if err := c.matchName(draft.meta); err != nil {
		return nil, err
	}
	c.applied = true
	if !exists {
		return c.createOnUpdate(draft)
	}
	stored, err := c.replace(draft, old, sub)
	if err != nil {
		return nil, err
	}
	return c.objectResponse(http.StatusOK, stored), nil
}

// mergeApplied is the object after the apply, with its new ownership; old is nil when there is none yet.
func (c *call) mergeApplied(old *object, sub string) (*object, error) {
	fields, err := c.ver.fieldManager(sub)
	if err != nil {
		return nil, err
	}
	patch, err := c.readApply()
	if err != nil {
		return nil, err
	}
	var live *object
	var before []metav1.ManagedFieldsEntry
	if old != nil {
		before = c.fieldsOf(old)
		live = old.in(c.ver).with(before)
	}
	from := c.ver.runtimeObject(live)
	if u, ok := from.(*unstructured.Unstructured); ok && live != nil {
		// The result shares parts with what it is made of, and is changed in place later.
		from = &unstructured.Unstructured{Object: copyJSON(u.Object).(map[string]any)}
	}
	out, err := fields.Apply(from, patch, c.manager, c.force)
	if err != nil {
		return nil, steady(err, func() error {
			_, err := fields.Apply(from, patch, c.manager, c.force)
			return err
		})
	}
	if err := c.checkStrict(); err != nil {
		return nil, err
	}
	entries := stamped(managedFieldsOf(out), c.s.now(), before)
	draft, err := c.appliedDraft(out)
	if err != nil {
		return nil, err
	}
	c.setFields(draft, entries)
	return draft, nil
}

// steady makes an error the same every time. At a field that the schema does not have the library looks no further, and it
// walks the fields in the random order of a map, so that what else is wrong is reported or not. An error that comes out
// in several ways is told in full.
func steady(err error, again func() error) error {
	text := err.Error()
	if !strings.Contains(text, "field not declared in schema") {
		return err
	}
	const tries = 32
	head, _ := splitErrors(text)
	seen, lines, several := map[string]bool{}, []string(nil), false
	for range tries {
		other := again()
		if other == nil {
			return err
		}
		several = several || other.Error() != text
		_, found := splitErrors(other.Error())
		for line := range strings.SplitSeq(found, "\n") {
			if line = strings.TrimSpace(line); line != "" && !seen[line] {
				seen[line] = true
				lines = append(lines, line)
			}
		}
	}
	if !several {
		return err
	}
	sort.Strings(lines)
	return fmt.Errorf("%serrors:\n  %s", head, strings.Join(lines, "\n  "))
}

// splitErrors parts what was attempted from the errors about fields, which are one, or a list with a title.
func splitErrors(text string) (head, found string) {
	if head, found, several := strings.Cut(text, "errors:\n"); several {
		return head, found
	}
	if at := strings.Index(text, ": ."); at >= 0 && !strings.HasPrefix(text, ".") {
		return text[:at+2], text[at+2:]
	}
	return "", text
}

// appliedDraft takes over what a field manager has merged.
func (c *call) appliedDraft(out runtime.Object) (*object, error) {
	u, untyped := out.(*unstructured.Unstructured)
	if !untyped {
		typed := out
		if defaults := c.kind.builtin.defaults; defaults != nil {
			defaults(typed)
		}
		return &object{ver: c.kind.storage, typed: typed, meta: metaOf(typed)}, nil
	}
	// Unlike what a body holds, nulls and unknown fields of a merged object are left to validation.
	draft := &object{ver: c.ver, rest: u.Object, sentKind: u.GetKind(), sentVersion: u.GetAPIVersion()}
	var err error
	if draft.meta, _, err = c.readMeta(u.Object); err != nil {
		return nil, err
	}
	delete(draft.rest, "kind")
	delete(draft.rest, "apiVersion")
	delete(draft.rest, "metadata")
	return draft, nil
}

// readApply reads the applied configuration, which is YAML or, from most clients, JSON.
func (c *call) readApply() (*unstructured.Unstructured, error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	// The server's YAML has neither the halves that JSON may write a character as, nor its other way to write a slash.
	escapes := slices.ContainsFunc([]string{`\ud`, `\uD`, `\/`}, func(s string) bool { return bytes.Contains(c.req.Body, []byte(s)) })
	if strict, err := kjson.UnmarshalStrict(c.req.Body, &patch.Object); err == nil && len(strict) == 0 && patch.Object != nil && !escapes {
		c.plainJSON = true
		return patch, nil
	}
	patch.Object = map[string]any{}
	if err := yaml.Unmarshal(c.req.Body, &patch.Object); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	return patch, nil
}

// checkStrict looks for repeated fields in an applied configuration.
func (c *call) checkStrict() error {
	if c.plainJSON || c.validation == metav1.FieldValidationIgnore {
		return nil
	}
	err := yaml.UnmarshalStrict(c.req.Body, &map[string]any{})
	switch {
	case err == nil:
	case c.validation == metav1.FieldValidationStrict:
		return apierrors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
	default:
		// The decoder's lines are warnings of their own (endpoints/handlers/rest.go, parseYAMLWarnings).
		text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: yaml: unmarshal errors:\n")
		for line := range strings.SplitSeq(text, "\n") {
			c.warn(strings.TrimSpace(line))
		}
	}
	return nil
}
