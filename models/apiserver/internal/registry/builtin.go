package registry

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// builtin is one built-in kind: the facts that kube-apiserver keeps in its strategy and storage
// under pkg/registry of the Kubernetes tree. Defaults are those of pkg/apis/<group>/v1/defaults.go,
// and validation is that of pkg/apis/<group>/validation, where a file cites nothing else.
type builtin struct {
	group, version, kind, plural string

	object     func() runtime.Object
	short      []string
	categories []string
	cluster    bool // not in a namespace
	scale      bool
	// subs are the subresources besides status and scale.
	subs []*object.Subresource
	// verbs of the main resource; nil for all of them.
	verbs    []string
	strategy strategy
	// fields are the selectable fields besides name and namespace.
	fields map[string]func(*object.Object) string
	// columns are what tables show; nil for a kind without tables.
	columns *columns
	// resets and statusResets are the fields that a write of the object and one of its status
	// cannot change, besides the status and the spec.
	resets, statusResets []string
}

// Index is a set of kinds with an index.
type Index struct {
	Order      []*Kind
	ByResource map[string]*Kind
}

func kindsOf(list []*builtin) *Index {
	all := &Index{ByResource: map[string]*Kind{}}
	for _, b := range list {
		all.add(b.kindOf())
	}
	return all
}

func (i *Index) add(k *Kind) {
	i.Order = append(i.Order, k)
	i.ByResource[k.Group+"/"+k.Plural] = k
}

func (b *builtin) kindOf() *Kind {
	v := &object.Version{Name: b.version, Served: true, New: b.object, Fields: b.fields,
		Warning: b.strategy.deprecation}
	k := &object.Type{
		Group: b.group, Kind: b.kind, Plural: b.plural, Short: b.short, Categories: b.categories,
		Namespaced: !b.cluster, Verbs: b.verbs, Versions: []*object.Version{v}, Storage: v,
		Builtin: true, Defaults: b.strategy.defaults, Resets: b.resets, StatusResets: b.statusResets,
	}
	if b.strategy.status {
		v.Subresources = append(v.Subresources, object.StatusSubresource())
	}
	if b.scale {
		v.Subresources = append(v.Subresources, object.ScaleSubresource(object.BuiltinScale))
	}
	v.Subresources = append(v.Subresources, b.subs...)
	k.Link()
	return &Kind{Type: k, Strategy: &b.strategy, Columns: b.columns}
}
