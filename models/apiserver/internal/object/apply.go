package object

// Server-side apply, as endpoints/handlers/patch.go (applyPatcher) does it around apimachinery's
// field managers.

import (
	"fmt"
	"sort"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Applier is who applies a configuration, and when. Force takes fields from other managers.
type Applier struct {
	Manager string
	Force   bool
	Now     time.Time
}

// merged is an object with an applied configuration merged into it, not yet read back.
type merged struct {
	out     runtime.Object
	entries []metav1.ManagedFieldsEntry
}

// MergeApplied merges a configuration into an object; old is nil when there is none yet.
func (v *Version) MergeApplied(old *Object, patch *unstructured.Unstructured, sub string, by Applier) (*merged, error) {
	fields, err := v.fieldManager(sub)
	if err != nil {
		return nil, err
	}
	var live *Object
	var before []metav1.ManagedFieldsEntry
	if old != nil {
		before = old.managedFields()
		live = withOwners(old.In(v), before)
	}
	from := v.runtimeObject(live)
	if u, ok := from.(*unstructured.Unstructured); ok && live != nil {
		// The result shares parts with what it is made of, and is changed in place later.
		from = &unstructured.Unstructured{Object: CopyJSON(u.Object).(map[string]any)}
	}
	out, err := fields.Apply(from, patch, by.Manager, by.Force)
	if err != nil {
		return nil, steady(err, func() error {
			_, err := fields.Apply(from, patch, by.Manager, by.Force)
			return err
		})
	}
	return &merged{out, stamped(managedFieldsOf(out), by.Now, before)}, nil
}

// AppliedDraft makes a draft of a merged object, with its new ownership.
func (d Decoder) AppliedDraft(m *merged, ver *Version) (*Object, error) {
	u, untyped := m.out.(*unstructured.Unstructured)
	if !untyped {
		draft := DraftOf(m.out, ver.Type.Storage)
		draft.SetFields(m.entries)
		return draft, nil
	}
	// Unlike what a body holds, nulls and unknown fields of a merged object are left to validation.
	draft := &Object{Version: ver, Rest: u.Object, SentKind: u.GetKind(), SentVersion: u.GetAPIVersion()}
	var err error
	if draft.Meta, _, err = d.readMeta(u.Object); err != nil {
		return nil, err
	}
	delete(draft.Rest, "kind")
	delete(draft.Rest, "apiVersion")
	delete(draft.Rest, "metadata")
	draft.SetFields(m.entries)
	draft.checked = ver
	return draft, nil
}

// steady makes an error the same every time. At a field that the schema does not have, the library
// looks no further. It walks the fields in the random order of a map, so what else is wrong is
// reported or not. Such an error is reported with all that it can say.
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

// splitErrors parts what was attempted from the errors about fields, which are one, or a list with
// a title.
func splitErrors(text string) (head, found string) {
	if head, found, several := strings.Cut(text, "errors:\n"); several {
		return head, found
	}
	if at := strings.Index(text, ": ."); at >= 0 && !strings.HasPrefix(text, ".") {
		return text[:at+2], text[at+2:]
	}
	return "", text
}
