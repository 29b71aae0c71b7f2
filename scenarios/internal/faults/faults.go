// Package faults holds what more than one story does to its programs.
package faults

import (
	"time"

	"github.com/wavetank/wavetank/sim/fault"
)

// OfHelm is most of what the harness knows to do to an operator that lives on Helm's release
// records, under which its full cure must hold. Deletions are left out of answers that are wrong or
// lost: Helm only logs that one was refused, and goes on. So is a second operator, which is a
// question of its own. The rights to one kind of what it installs are lost, too, and its writes
// with these verbs fail and are lost.
func OfHelm(operator, kind string, verbs ...string) []fault.Fault {
	of, records := fault.In(operator), fault.OfKind("Secret")
	faults := []fault.Fault{fault.StaleCache(30 * time.Second), fault.RacingRequeue(), fault.Crash(operator),
		fault.DroppedWatch(of), fault.Relist(of), fault.Conflict(of),
		fault.ServerError(of, fault.OnVerb("get")), fault.Forbidden(time.Minute, of, records),
		fault.Forbidden(time.Minute, of, fault.OfKind(kind)),
		fault.Forbidden(time.Minute, of, records, fault.OnVerb("create")), fault.Forbidden(time.Minute, of, records,
			fault.OnVerb("update"))}
	for _, verb := range verbs {
		faults = append(faults, fault.ServerError(of, fault.OnVerb(verb)), fault.LostReply(of, fault.OnVerb(verb)))
	}
	return faults
}
