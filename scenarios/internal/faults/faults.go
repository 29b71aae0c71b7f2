// Package faults holds faults that several reference scenarios inject.
package faults

import (
	"time"

	"github.com/wavetank/wavetank/sim/fault"
)

// OfHelm returns the faults that an operator with Helm's release records can meet. Its fixed
// variant must pass under all of them. Its writes with these verbs fail, and their replies are
// lost; it loses the rights to one kind of what it installs. Deletions are left out, because Helm
// only logs that one was refused. A second operator is a case of its own.
func OfHelm(operator, kind string, verbs ...string) []fault.Fault {
	of, records := fault.In(operator), fault.OfKind("Secret")
	faults := []fault.Fault{fault.StaleCache(30*time.Second, fault.HardLimit()),
		fault.RacingRequeue(), fault.Crash(operator),
		fault.Restart(operator), fault.DroppedWatch(of), fault.Relist(of), fault.Conflict(of),
		fault.ServerError(of, fault.OnVerb("get")), fault.Forbidden(time.Minute, of, records),
		fault.Forbidden(time.Minute, of, fault.OfKind(kind)),
		fault.Forbidden(time.Minute, of, records, fault.OnVerb("create")), fault.Forbidden(time.Minute, of, records,
			fault.OnVerb("update")),
		fault.SlowNamespace(20 * time.Second), fault.Unreachable(time.Minute, of), fault.Pause(operator, 8*time.Second)}
	for _, verb := range verbs {
		faults = append(faults, fault.ServerError(of, fault.OnVerb(verb)), fault.LostReply(of, fault.OnVerb(verb)))
	}
	return faults
}
