// Package faults holds what more than one story does to its programs.
package faults

import (
	"time"

	"github.com/wavetank/wavetank/sim"
)

// OfHelm is most of what the harness knows to do to an operator that lives on Helm's release records, under which its full cure must
// hold. Deletions are left out of answers that are wrong or lost: Helm only logs that one was refused, and goes on. So is
// a second operator, which is a question of its own. The rights to one kind of what it installs are lost, too, and its writes with
// these verbs fail and are lost.
func OfHelm(operator, kind string, verbs ...string) []sim.Fault {
	of, records := sim.In(operator), sim.OfKind("Secret")
	faults := []sim.Fault{sim.StaleCache(30 * time.Second), sim.RacingRequeue(), sim.Crash(operator), sim.DroppedWatch(of), sim.Relist(of), sim.Conflict(of),
		sim.ServerError(of, sim.OnVerb("get")), sim.Forbidden(time.Minute, of, records), sim.Forbidden(time.Minute, of, sim.OfKind(kind)),
		sim.Forbidden(time.Minute, of, records, sim.OnVerb("create")), sim.Forbidden(time.Minute, of, records, sim.OnVerb("update"))}
	for _, verb := range verbs {
		faults = append(faults, sim.ServerError(of, sim.OnVerb(verb)), sim.LostReply(of, sim.OnVerb(verb)))
	}
	return faults
}
