package registry

import (
	"sync"

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

func (s *Index) add(k *Kind) {
	s.Order = append(s.Order, k)
	s.ByResource[k.Group+"/"+k.Plural] = k
}

// Builtins are the built-in kinds, made once per process.
var Builtins = sync.OnceValue(func() *Index {
	all := kindsOf(builtins)
	all.addEvents()
	return all
})

// Reviews are the kinds of access reviews, made once per process.
var Reviews = sync.OnceValue(func() *Index { return kindsOf(reviews) })

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

// Known says whether a built-in type is served.
func Known(group, version, name string) bool {
	for _, k := range Builtins().Order {
		if k.Group == group && k.Kind == name && k.Version(version) != nil {
			return true
		}
	}
	return false
}

// builtins are the built-in kinds that the model serves, in the order in which they are listed.
var builtins = []*builtin{
	&namespaceKind, &configMapKind, &secretKind, &serviceKind, &serviceAccountKind, &podKind,
	&podTemplateKind, &replicationControllerKind, &endpointsKind, &eventKind, &nodeKind,
	&persistentVolumeKind, &claimKind, &quotaKind, &limitRangeKind, &deploymentKind,
	&replicaSetKind, &statefulSetKind, &daemonSetKind, &controllerRevisionKind, &jobKind,
	&cronJobKind, &autoscalerKind, &leaseKind, &endpointSliceKind, &ingressKind,
	&ingressClassKind, &networkPolicyKind, &disruptionBudgetKind, &roleKind, &roleBindingKind,
	&clusterRoleKind, &clusterRoleBindingKind, &storageClassKind, &volumeAttachmentKind,
	&csiDriverKind, &csiNodeKind, &priorityClassKind, &runtimeClassKind, &certificateKind,
	&validatingWebhookKind, &mutatingWebhookKind, &definitionKind,
}

// reviews are the kinds of access reviews.
var reviews = []*builtin{
	&selfReviewKind, &subjectReviewKind, &localReviewKind,
}
