package history

import (
	"encoding/json"
	"fmt"
)

// term is the time for which a candidate holds a lease.
type term struct {
	holder  string
	since   Time
	renewed int
	last    int // index of the latest renewal
}

// leaseLines are the lines about leases, by event: who takes and who releases one, and at the last
// renewal of a term the number of renewals.
func leaseLines(events []Event) map[int]string {
	out := map[int]string{}
	terms := map[Ref]term{}
	for i := range events {
		for _, c := range events[i].Changes {
			if !c.Ref.Lease() || c.Type == "DELETED" {
				continue
			}
			t, holder := terms[c.Ref], holderOf(c.Object)
			switch {
			case holder != t.holder && holder == "":
				t = term{}
				out[i] = "releases " + c.Ref.String()
			case holder != t.holder:
				t = term{holder: holder, since: c.At}
				out[i] = "takes " + c.Ref.String()
			case holder != "":
				if t.renewed > 0 {
					delete(out, t.last)
				}
				t.renewed, t.last = t.renewed+1, i
				out[i] = fmt.Sprintf("renews %s, %d× since %s", c.Ref, t.renewed, Moment(t.since))
			}
			terms[c.Ref] = t
		}
	}
	return out
}

func holderOf(lease []byte) string {
	var o struct {
		Spec struct{ HolderIdentity string }
	}
	_ = json.Unmarshal(lease, &o) // a lease that cannot be read has no holder
	return o.Spec.HolderIdentity
}
