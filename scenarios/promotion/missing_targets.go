// This file has what the thread reports: a target does not exist, and the cache that would show it
// is not in sync when it is first asked. Nothing happens after that, so only the operator itself
// can look again.

package promotion

import (
	"fmt"
	"strings"
	"time"

	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
)

// longAbsent is how long nobody creates the target.
const longAbsent = 30 * time.Minute

// Absent has a target that nobody creates.
var Absent = workload(between("dev"), askSaysAbsent, func(s *World) {
	s.Apply(Namespace("shop"), Namespace("dev"), Pipeline("dev"))
	s.Sleep(longAbsent)
	s.Settle()
})

// AbsentAway has such a target in another cluster, which is known from the start.
var AbsentAway = workload(between("dev", "prod"), askSaysAbsent, func(s *World) {
	s.Apply(Namespace("shop"), gitopsCluster(), kubeconfig("prod.example"), Namespace("dev"), App("dev"))
	s.clusterIsReady("connected")
	s.Elsewhere("prod.example", "prod")
	s.Runs("dev", "v1")
	s.Apply(Away(Pipeline("dev", "prod"), "prod"))
	s.Sleep(longAbsent)
	s.Settle()
})

func askSaysAbsent(s *World) { s.Eventually(saysAbsent, s.SaysAbsent) }

// SaysAbsent: the error of a target that does not exist says that.
func (b *Record) SaysAbsent(h *history.History) error {
	b.read(h)
	return b.eachPipeline(func(_ string, p *version) error {
		for i, env := range p.Spec.Environments {
			for j, target := range b.targets(p, i) {
				if now(target).exists {
					continue
				}
				if said := targetError(p, env.Name, j); !strings.Contains(said, "does not exist") {
					return fmt.Errorf("the target in %s does not exist, and the status says %q", env.Name, said)
				}
			}
		}
		return nil
	})
}

// targetError is the error that a status has for a target of an environment.
func targetError(p *version, env string, target int) string {
	var status *v1alpha1.EnvironmentStatus = p.Status.Environments[env]
	if status == nil || target >= len(status.Targets) {
		return ""
	}
	return status.Targets[target].Error
}
