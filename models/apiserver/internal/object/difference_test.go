package object

import (
	"maps"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"
)

// What differs tells the same about the owners of fields as field managers do, after any sequence
// of writes and applies by several managers.
func TestOwnersFollowFromTheDifference(t *testing.T) {
	updates, checks := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		spec, status := drawSchema(t, 2), drawSchema(t, 2)
		parts := map[string]props{"spec": *spec.DeepCopy(), "status": *status.DeepCopy()}
		root := props{Type: "object", Properties: parts}
		for name, part := range parts {
			decorate(t, &part)
			parts[name] = part
		}
		v := &Version{Name: "v1", Served: true, Subresources: []*Subresource{StatusSubresource()},
			Schema: &Schema{HasStatus: true, Source: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &root}}}
		v.Type = &Type{Group: "g", Kind: "K", Versions: []*Version{v}, Storage: v}
		v.Type.Link()
		if err := v.Schema.compile(); err != nil {
			t.Skip(err)
		}
		live := &Object{Version: v, Meta: &metav1.ObjectMeta{Name: "a", UID: "u"}, Rest: map[string]any{}}
		for i := range 8 {
			now := time.Unix(int64(i), 0)
			manager := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "manager")
			sub := rapid.SampledFrom([]string{"", "status"}).Draw(t, "sub")
			rest := maps.Clone(live.Rest)
			rest["spec"] = change(t, &spec, rest["spec"])
			rest["status"] = change(t, &status, rest["status"])
			if rapid.Bool().Draw(t, "applied") {
				patch := &unstructured.Unstructured{Object: maps.Clone(rest)}
				patch.SetGroupVersionKind(v.GVK())
				m, err := v.MergeApplied(live, patch, sub, Applier{manager, true, now})
				if err != nil {
					continue
				}
				if live, err = (Decoder{}).AppliedDraft(m, v); err != nil {
					t.Fatal(err)
				}
				continue
			}
			draft := live.Draft()
			draft.Rest = rest
			draft.Meta.Generation++
			if rapid.Bool().Draw(t, "labelled") {
				draft.Meta.Labels = map[string]string{manager: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "label")}
			}
			n := &Note{Before: live, Time: now, Manager: manager, Version: v}
			want, _ := n.after(live, draft, sub)
			draft.Meta.ManagedFields = live.Meta.ManagedFields
			if rapid.Bool().Draw(t, "unsaid") {
				draft.Meta.ManagedFields = nil
			}
			checks++
			if n.update(live, draft, sub) != nil {
				updates++
			}
			n.Own(draft, sub, true)
			if got := draft.Meta.ManagedFields; string(Marshal(got)) != string(Marshal(want)) {
				t.Fatalf("%s of %v over %v by %s: owners %s, want %s", sub, rest, live.Rest, manager, Marshal(got),
					Marshal(want))
			}
			live = draft
		}
	})
	if updates*4 < checks {
		t.Errorf("of %d writes %d were decided by their difference", checks, updates)
	}
}
