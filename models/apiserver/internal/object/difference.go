package object

// A field manager decodes, checks and encodes all of an object and its managed fields. Most writes
// change a few fields of an object that has been checked before. Then the parts that differ decide
// which fields change hands.

import (
	"bytes"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/wavetank/wavetank/internal/kept"
)

// maxUpdaters is how many managers that do not apply are kept apart (util/managedfields/internal,
// DefaultMaxUpdateManagers).
const maxUpdaters = 10

// unowned are the fields of metadata that change with a write and belong to no manager
// (util/managedfields/internal/stripmeta.go).
var unowned = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"),
	fieldpath.MakePathOrDie("metadata", "resourceVersion"), fieldpath.MakePathOrDie("metadata", "generation"))

// update is [Note.after] for a write that changes a checked custom object. It returns nil if only
// the field manager knows the result.
func (n *Note) update(live, draft *Object, sub string) owners {
	if live == nil || live.checked != n.Version || n.Version != n.Version.Type.Storage {
		return nil
	}
	before, said := live.Meta.ManagedFields, draft.Meta.ManagedFields
	if len(before) == 0 || sub == "" && said != nil && !slices.EqualFunc(said, before, sameEntry) {
		return nil
	}
	diff := n.difference(live, draft, sub)
	if diff == nil {
		return nil
	}
	taken := diff.Modified.Union(diff.Added)
	own := taken.Difference(unowned)
	entry := metav1.ManagedFieldsEntry{Manager: n.owner(), Operation: metav1.ManagedFieldsOperationUpdate,
		APIVersion: n.Version.APIVersion(), FieldsType: "FieldsV1", Subresource: sub}
	if entry.Manager == "" {
		entry.Manager = "unknown"
	}
	out, updaters := make(owners, 0, len(before)+1), 0
	for _, e := range before {
		if e.APIVersion != entry.APIVersion || e.FieldsV1 == nil {
			return nil
		}
		set := decodedSet(rawFields(e.FieldsV1))
		left := set.Difference(taken).Difference(diff.Removed)
		if !own.Empty() && e.Manager == entry.Manager && e.Operation == entry.Operation && e.Subresource == sub {
			left = left.Union(own)
			e.Time, entry.Manager = &metav1.Time{Time: n.Time}, ""
		}
		if left.Empty() {
			continue
		}
		if e.Operation == entry.Operation {
			updaters++
		}
		out = append(out, withFields(e, set, left))
	}
	if !own.Empty() && entry.Manager != "" {
		entry.Time = &metav1.Time{Time: n.Time}
		out = append(out, withFields(entry, nil, own))
		updaters++
	}
	if updaters > maxUpdaters || len(out) == 0 {
		return nil
	}
	return stamped(out, n.Time, before)
}

// difference compares two states of an object, without the fields that the write cannot change. It
// returns nil if that fails.
func (n *Note) difference(live, draft *Object, sub string) *typed.Comparison {
	types, err := n.Version.Type.Types()
	if err != nil {
		return nil
	}
	was, is := differing(withoutFields(live), withoutFields(draft))
	var sides [2]*typed.TypedValue
	for i, side := range []map[string]any{was, is} {
		side["apiVersion"], side["kind"] = n.Version.APIVersion(), n.Version.Type.Kind
		o := &unstructured.Unstructured{Object: side}
		if sides[i], err = types.ObjectToTyped(o, typed.AllowDuplicates); err != nil {
			return nil
		}
	}
	diff, err := sides[0].Compare(sides[1])
	if err != nil {
		return nil
	}
	reset := n.Version.resetFields(sub)[fieldpath.APIVersion(n.Version.APIVersion())]
	return diff.ExcludeFields(reset)
}

// withoutFields is the document of an object without its managed fields.
func withoutFields(o *Object) map[string]any {
	meta := *o.Meta
	meta.ManagedFields = nil
	return o.document(metaDocument(&meta))
}

// differing leaves out of two objects the members that both have, except in lists.
func differing(a, b map[string]any) (x, y map[string]any) {
	x, y = map[string]any{}, map[string]any{}
	for name, v := range a {
		w, both := b[name]
		if !both {
			x[name] = v
			continue
		}
		if EqualJSON(v, w) {
			continue
		}
		p, isObject := v.(map[string]any)
		q, areObjects := w.(map[string]any)
		if isObject && areObjects {
			x[name], y[name] = differing(p, q)
		} else {
			x[name], y[name] = v, w
		}
	}
	for name, w := range b {
		if _, both := a[name]; !both {
			y[name] = w
		}
	}
	return x, y
}

// decodedSet decodes the fields of an entry.
var decodedSet = kept.Of(func(raw []byte) *fieldpath.Set {
	set := fieldpath.NewSet()
	_ = set.FromJSON(bytes.NewReader(raw)) // checked before
	return set
})

// rawFields are the bytes of a set of fields.
//
//nolint:staticcheck // the methods that replace the field came with k8s.io 0.36
func rawFields(f *metav1.FieldsV1) []byte { return f.Raw }

// withFields gives an entry that had one set of fields another one. As in each custom object, they
// are encoded in the order of their names.
func withFields(e metav1.ManagedFieldsEntry, had, has *fieldpath.Set) metav1.ManagedFieldsEntry {
	if had == nil || !had.Equals(has) {
		raw, _ := has.ToJSON()
		//nolint:staticcheck // as in rawFields
		e.FieldsV1 = &metav1.FieldsV1{Raw: Marshal(Decode(raw))}
	}
	return e
}

func sameEntry(p, q metav1.ManagedFieldsEntry) bool {
	return sameButTime(&p, &q) && p.FieldsType == q.FieldsType && p.Time.Equal(q.Time)
}
