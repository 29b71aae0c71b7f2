package object

// Who owns which field of an object is metadata.managedFields, as apimachinery's util/managedfields
// works it out.
//
// A real server works it out on every write, which costs more than the write. Here a write that is
// not an apply leaves only a note of itself: who wrote what over what. The notes are replayed when
// it matters: at the first apply to the object, or at the first write that speaks of managedFields
// itself. From then on the object is tracked as on a real server.
//
// The price is memory. An object that is not tracked keeps, through its notes, its earlier states
// and the bodies that made them. They stay until the object is deleted or a trim has the older
// notes replayed. The history holds the same states until it is compacted.

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/internal/kept"
)

// owners are the managed fields of an object.
type owners = []metav1.ManagedFieldsEntry

// ownership is what is known of an object about the owners of its fields.
type ownership struct {
	// owned says that the managed fields in Meta are kept. Until then written notes the write that
	// made this state.
	owned   bool
	written *Note
	// checked is a version whose types the object and its managed fields are known to fit.
	checked *Version
	// owners are the managed fields of a state whose notes are gone.
	owners owners
}

// Note is what is kept of one write: enough to find out later which fields it took.
type Note struct {
	// Before is the object written over; nil for a creation.
	Before *Object
	Time   time.Time
	// Manager and agent are the request's fieldManager and User-Agent; one of them names the owner.
	Manager, Agent    string
	Version           *Version
	Verb, Subresource string
	Media             string
	Body              []byte
}

// Own settles the ownership of a draft that is not the result of an apply. It is called before the
// type's own rules change the draft, as the handlers in endpoints/handlers do. A draft is tracked
// when track says so, when it speaks of managedFields, or when the object before it was tracked.
func (n *Note) Own(o *Object, sub string, track bool) {
	says := o.Meta.ManagedFields != nil && sub == ""
	if old := n.Before; track || says || old != nil && old.owned {
		live := old
		if old != nil {
			live = withOwners(old.In(n.Version), old.managedFields())
		}
		entries, fits := n.update(live, o, sub), true
		if entries == nil {
			entries, fits = n.after(live, o, sub)
		}
		o.SetFields(entries)
		if fits && o.Typed == nil {
			o.checked = n.Version
		}
		return
	}
	if len(n.Body) > 0 {
		o.written = n
	}
}

// SetFields makes an object a tracked one with these managed fields.
func (o *Object) SetFields(entries owners) {
	o.Meta.ManagedFields, o.owned, o.checked = entries, true, nil
}

// KeepOwnership gives a draft what is known about the owners of the fields of another object.
func (o *ownership) KeepOwnership(of *Object) { *o, o.checked = of.ownership, nil }

// withOwners is a copy of an object that has those managed fields.
func withOwners(o *Object, entries owners) *Object {
	if o.owned || len(entries) == 0 && len(o.Meta.ManagedFields) == 0 {
		return o
	}
	out := *o
	out.views, out.JSON = nil, nil
	if o.Typed != nil {
		out.Typed = shallow(o.Typed)
		out.Meta = MetaOf(out.Typed)
	} else {
		meta := *o.Meta
		out.Meta = &meta
	}
	out.Meta.ManagedFields = entries
	return &out
}

// managedFields are the managed fields of a stored object, tracked or not.
func (o *Object) managedFields() owners {
	var noted []*Object
	from := o
	for from != nil && !from.owned && from.written != nil {
		noted = append(noted, from)
		from = from.written.Before
	}
	var entries owners
	switch {
	case from != nil && from.owned:
		entries = from.Meta.ManagedFields
	case from != nil:
		entries = from.owners
	}
	for i := len(noted) - 1; i >= 0; i-- {
		entries = noted[i].written.replay(noted[i], entries)
	}
	return entries
}

// Tracked is a stored object as it is once it is tracked.
func (o *Object) Tracked() *Object {
	if o.owned {
		return o
	}
	out := withOwners(o, o.managedFields())
	out.JSON = out.Encode()
	return out
}

// Settle replays the notes that led to the newest state of an object before a time, and lets go of
// them.
func Settle(o *Object, before time.Time) {
	for o != nil && !o.owned && o.written != nil && !o.CommittedAt.Before(before) {
		o = o.written.Before
	}
	if o != nil && !o.owned && o.written != nil && o.written.Before != nil {
		o.owners, o.written = o.managedFields(), nil
	}
}

// replay finds out what the write that made an object did to the ownership that was there before.
func (n *Note) replay(o *Object, before owners) owners {
	if n.Subresource == "scale" {
		return n.scaled(n.Version.Scale(o), before)
	}
	var draft *Object
	var err error
	d := Decoder{Validation: metav1.FieldValidationIgnore}
	if n.Verb == "patch" {
		p := Patch{Decoder: d, Kind: types.PatchType(MediaType(n.Media)), Body: n.Body, Version: n.Version}
		draft, err = p.Apply(n.Before)
	} else {
		draft, _, err = d.Decode(n.Body, n.Version)
	}
	if err != nil {
		return before // the definition has changed since
	}
	var live *Object
	if n.Before != nil {
		live = withOwners(n.Before.In(n.Version), before)
	}
	entries, _ := n.after(live, draft, n.Subresource)
	return entries
}

// after is the ownership after a write that made draft of live; nil stands for no live object. It
// reports whether both are known to fit their types.
func (n *Note) after(live, draft *Object, sub string) (entries owners, fits bool) {
	var before owners
	if live != nil {
		before = live.Meta.ManagedFields
	}
	said := draft.Meta.ManagedFields // which the library takes off
	fields, err := n.Version.fieldManager(sub)
	if err != nil {
		return before, false
	}
	out, err := fields.Update(n.Version.runtimeObject(live), n.Version.runtimeObject(draft), n.owner())
	if err != nil {
		return before, false
	}
	entries = stamped(managedFieldsOf(out), n.Time, before, said)
	return entries, len(entries) > 0
}

// owner is the name under which a write owns fields (endpoints/handlers/create.go,
// managerOrUserAgent).
func (n *Note) owner() string {
	if n.Manager != "" {
		return n.Manager
	}
	agent, _, _ := strings.Cut(n.Agent, "/")
	var b strings.Builder
	for _, r := range agent {
		if !unicode.IsPrint(r) {
			continue
		}
		if b.Len()+utf8.RuneLen(r) > metavalidation.FieldManagerMaxLength {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// stamped replaces the process's time, which the library sets, by the model's. It does so for each
// time that neither the object nor the writer has. Known times stay in whichever entry the
// library has moved them to, as it does if it merges old updaters. The entries are ordered by it as
// util/managedfields/internal/managedfields.go (sortEncodedManagedFields) does.
func stamped(entries owners, now time.Time, known ...owners) owners {
	out := slices.Clone(entries)
	for i := range out {
		// Who applies what is there already owns it since no time at all.
		if e := &out[i]; e.Time != nil && !timeKnown(e.Time, known) {
			stamp := metav1.NewTime(now)
			e.Time = &stamp
		}
	}
	sort.Slice(out, func(i, j int) bool {
		p, q := &out[i], &out[j]
		switch {
		case p.Operation != q.Operation:
			return p.Operation < q.Operation
		case seconds(p.Time) != seconds(q.Time):
			return seconds(p.Time) < seconds(q.Time)
		case p.Manager != q.Manager:
			return p.Manager < q.Manager
		case p.APIVersion != q.APIVersion:
			return p.APIVersion < q.APIVersion
		}
		return p.Subresource < q.Subresource
	})
	return out
}

func timeKnown(t *metav1.Time, known []owners) bool {
	for _, entries := range known {
		for i := range entries {
			if t.Equal(entries[i].Time) {
				return true
			}
		}
	}
	return false
}

func seconds(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// entriesDocument are managed fields as decoded JSON. The fields of an entry are shared by all who
// ask for the same ones.
func entriesDocument(entries owners) []any {
	out := make([]any, len(entries))
	for i := range entries {
		e := &entries[i]
		fields := make(map[string]any, 7)
		text := func(name, value string) {
			if value != "" {
				fields[name] = value
			}
		}
		text("manager", e.Manager)
		text("operation", string(e.Operation))
		text("apiVersion", e.APIVersion)
		text("fieldsType", e.FieldsType)
		text("subresource", e.Subresource)
		if e.Time != nil {
			fields["time"] = timeDocument(e.Time)
		}
		if e.FieldsV1 != nil {
			fields["fieldsV1"] = decodedFields([]byte(e.FieldsV1.String()))
		}
		out[i] = fields
	}
	return out
}

func timeDocument(t *metav1.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// decodedFields decodes the fields of an entry. Most writes leave most entries alone.
var decodedFields = kept.Of(func(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	return Decode(raw)
})

// onlyTimesDiffer reports whether ownership differs in its times alone, which are no reason for a
// new revision (endpoints/handlers/fieldmanager/equality.go).
func onlyTimesDiffer(a, b owners) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	differ := false
	for i := range a {
		p, q := &a[i], &b[i]
		if !sameButTime(p, q) {
			return false
		}
		differ = differ || !p.Time.Equal(q.Time)
	}
	return differ
}

func sameButTime(p, q *metav1.ManagedFieldsEntry) bool {
	return p.Manager == q.Manager && p.Operation == q.Operation && p.APIVersion == q.APIVersion &&
		p.Subresource == q.Subresource && (p.FieldsV1 == q.FieldsV1 ||
		p.FieldsV1 != nil && q.FieldsV1 != nil && bytes.Equal(rawFields(p.FieldsV1), rawFields(q.FieldsV1)))
}
