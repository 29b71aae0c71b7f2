// This file exists for environments that run in more than one place, some of them in another
// cluster: what is asked of one target in the operator's own cluster is asked of all of them.

package promotion

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/sim"
)

// second is the namespace of an environment's second target.
func second(env string) string { return env + "-2" }

// doubled gives every environment of a pipeline a second target, in the cluster that is named, or
// in the operator's own.
func doubled(p *v1alpha1.Pipeline, cluster *v1alpha1.CrossNamespaceClusterReference) *v1alpha1.Pipeline {
	for i := range p.Spec.Environments {
		e := &p.Spec.Environments[i]
		e.Targets = append(e.Targets, v1alpha1.Target{Namespace: second(e.Name), ClusterRef: cluster})
	}
	return p
}

// inTwoClusters opens the story with everything at v1 in two places, of which the second is in
// another cluster.
func inTwoClusters(environments ...string) func(*sim.World, promotion.Variant) *World {
	return func(w *sim.World, v promotion.Variant) *World {
		s := Begin(w, v, environments...)
		var there []string
		var apps []client.Object
		s.Apply(Namespace("shop"), gitopsCluster(), kubeconfig("there.example"))
		s.clusterIsReady("connected")
		for _, env := range environments {
			s.Apply(Namespace(env), App(env))
			s.More[env] = []string{second(env)}
			there, apps = append(there, second(env)), append(apps, App(second(env)))
		}
		s.Elsewhere("there.example", there...).Apply(apps...)
		for _, env := range environments {
			s.AllRun(env, "v1")
		}
		s.Apply(doubled(Pipeline(environments...), otherCluster()))
		w.Sleep(dwell)
		return s
	}
}

// unevenly rolls out where the two targets of an environment are seldom of one mind.
func (s *World) unevenly() {
	s.Runs("dev", "v2")
	s.Settle() // half of dev is no revision
	s.Struggles(second("dev"), "v2")
	s.Sleep(soon)
	s.Runs(second("dev"), "v2")
	s.Settle()
	s.Runs("staging", "v2")
	s.Struggles(second("staging"), "v2")
	s.Settle() // half of staging proves nothing
	s.Runs(second("staging"), "v2")
	s.Sleep(soon)
	s.Struggles("staging", "v2")
	s.Settle()
	s.Runs(second("dev"), "v1")
	s.Sleep(soon)
	s.Runs("dev", "v1")
	s.Settle()
	s.Deliver()
	s.Settle()
}

// HastySecond has both targets of dev ready with a revision while the second one of staging is
// missing.
var HastySecond = workload(between("dev", "staging"), askComplete, func(s *World) {
	s.Apply(Namespace("shop"), Namespace("dev"), Namespace("staging"), Namespace(second("dev")),
		Namespace(second("staging")))
	s.Apply(App("dev"), App(second("dev")), App("staging"), doubled(Pipeline("dev", "staging"), nil))
	s.Runs("dev", "v1")
	s.Runs(second("dev"), "v1")
	s.Sleep(time.Minute)
	s.Apply(App(second("staging")))
	s.Settle()
})

// HastyAway has dev ready with a revision while the cluster of prod is not known, then cannot be
// reached, then has nothing in it.
var HastyAway = workload(between("dev", "prod"), askComplete, func(s *World) {
	there := s.Elsewhere("prod.example", "prod")
	s.Apply(Namespace("shop"), Namespace("dev"), App("dev"), Away(Pipeline("dev", "prod"), "prod"))
	s.Runs("dev", "v1")
	for _, known := range []func(){
		func() { s.Apply(gitopsCluster()) },
		func() { s.clusterIsReady("connected") },
		func() { s.Apply(kubeconfig("prod.example")) },
		func() { there.Apply(App("prod")) },
	} {
		s.Sleep(20 * time.Second)
		known()
	}
	s.Settle()
})
