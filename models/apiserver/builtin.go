package apiserver

import (
	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
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

// kinds is a set of kinds with an index.
type kinds struct {
	order      []*kind
	byResource map[string]*kind
}

func kindsOf(list []*builtin) *kinds {
	all := &kinds{byResource: map[string]*kind{}}
	for _, b := range list {
		all.add(b.kindOf())
	}
	return all
}

func (s *kinds) add(k *kind) {
	s.order = append(s.order, k)
	s.byResource[k.Group+"/"+k.Plural] = k
}

// builtinKinds are the built-in kinds, made once per process.
var builtinKinds = sync.OnceValue(func() *kinds {
	all := kindsOf(builtins)
	all.addEvents()
	return all
})

// reviewKinds are the kinds of access reviews, made once per process.
var reviewKinds = sync.OnceValue(func() *kinds { return kindsOf(reviews) })

func (b *builtin) kindOf() *kind {
	v := &object.Version{Name: b.version, Served: true, New: b.object, Fields: b.fields, Warning: b.strategy.deprecation}
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
	return &kind{Type: k, strategy: &b.strategy, columns: b.columns}
}

// knownBuiltin says whether a built-in type is served.
func knownBuiltin(group, version, name string) bool {
	for _, k := range builtinKinds().order {
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
