package fault

import (
	"encoding/json"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// turn is a point in the history of a kind before which a cache may have stopped.
type turn struct {
	before int64 // the revision that the cache has reached
	ref    history.Ref
	what   string // that it has not seen
}

// turns are the latest change of each sort (an object was created, changed, is being deleted, is
// gone) that the server may not have seen: no older than it may lag, and newer than what it has
// shown before. The latest comes first.
func (s *staleServer) turns(c *wire.Call) (out []turn) {
	events, offered := s.env.History().Events, map[string]bool{}
	for i := len(events) - 1; i > 0 && events[i].At >= s.env.Now()-s.longest; i-- {
		for j := len(events[i].Changes) - 1; j >= 0; j-- {
			ch := &events[i].Changes[j]
			if ch.Ref.Cluster != "" || ch.Ref.Group != c.Info.Group || ch.Ref.Kind != c.Kind ||
				c.Info.Namespace != "" && ch.Ref.Namespace != c.Info.Namespace {
				continue
			}
			if ch.Revision <= s.reached[kindOf(c)] || ch.Revision <= events[0].Server {
				return out
			}
			if what := turnOf(ch); !offered[what] {
				offered[what] = true
				out = append(out, turn{ch.Revision - 1, ch.Ref, what})
			}
		}
	}
	return out
}

// turnOf is what a change does to its object.
func turnOf(ch *history.Change) string {
	switch {
	case ch.Type == "ADDED":
		return "was created"
	case ch.Type == "DELETED":
		return "is gone"
	case terminating(ch.Object) && !terminating(ch.Previous):
		return "is being deleted"
	}
	return "changed"
}

// terminating reports whether an object has a deletion timestamp.
func terminating(object []byte) bool {
	var o struct {
		Metadata struct {
			DeletionTimestamp *string `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	return json.Unmarshal(object, &o) == nil && o.Metadata.DeletionTimestamp != nil
}
