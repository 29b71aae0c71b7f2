package rbac

import (
	"net/http"
	"slices"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// Aggregation is the controller that fills the rules of ClusterRoles with an aggregationRule from
// the ClusterRoles that their selectors choose (pkg/controller/clusterroleaggregation). It is an
// actor.
func Aggregation() actor.Actor { return &aggregation{} }

type aggregation struct{ cluster actor.Cluster }

// firstRetry is the first back-off of client-go's work queues. A write of this actor only fails
// when something refuses it.
const firstRetry = 5 * time.Millisecond

const clusterRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

// Name implements [actor.Actor].
func (a *aggregation) Name() string { return "clusterrole-aggregation-controller" }

// Begin implements [actor.Actor].
func (a *aggregation) Begin(c actor.Cluster) {
	a.cluster = c
	a.look()
}

// Observe implements [actor.Actor]. Any change of a ClusterRole may concern any other.
func (a *aggregation) Observe(c apiserver.Change) {
	if c.Group == rbacv1.GroupName && c.Resource == "clusterroles" {
		a.look()
	}
}

func (a *aggregation) look() {
	roles, err := actor.List[rbacv1.ClusterRole](a.cluster, clusterRoles)
	if err != nil {
		return
	}
	for _, r := range roles {
		if r.AggregationRule != nil {
			a.cluster.After(0, "aggregate to "+r.Name, func() { a.aggregate(r.Name) })
		}
	}
}

// aggregate is one step: it brings one role up to date.
func (a *aggregation) aggregate(name string) {
	roles, err := actor.List[rbacv1.ClusterRole](a.cluster, clusterRoles)
	if err != nil {
		return
	}
	i := slices.IndexFunc(roles, func(r rbacv1.ClusterRole) bool { return r.Name == name })
	if i < 0 || roles[i].AggregationRule == nil {
		return
	}
	want, err := selected(&roles[i], roles)
	if err != nil || slices.EqualFunc(want, roles[i].Rules,
		func(a, b rbacv1.PolicyRule) bool { return a.String() == b.String() }) {
		return // a selector that cannot be read is a selector that never will be
	}
	// The real controller applies the rules; this is the same to everybody but those who look at
	// managed fields.
	patch := map[string]any{"rules": want}
	if err := actor.Do(a.cluster, http.MethodPatch, clusterRoles+"/"+name, patch, nil); err != nil {
		a.cluster.Again(firstRetry, "aggregate to "+name, func() { a.aggregate(name) })
	}
}
