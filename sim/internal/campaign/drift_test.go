package campaign

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

// A fault is recognised by its name, with or without a scope, whatever its arguments hold.
func TestLostFaults(t *testing.T) {
	whole := choice.Sequence{{ID: "fault Crash(op) in op #1", Value: 2}, {ID: "fault StaleCache(10s) #1", Value: 1},
		{ID: `fault Rejected("not in time") of App #1`, Value: 1}}
	crash, rejected := "Crash(op) before op update App #2", `Rejected("not in time") op create App #1`
	for name, c := range map[string]struct{ unused, lost []string }{
		"nothing":     {nil, nil},
		"schedule":    {[]string{"pick #4", "lag op App #2"}, nil},
		"armed":       {[]string{"fault Crash(op) in op #1"}, []string{"fault Crash(op) in op #1"}},
		"injections":  {[]string{crash, "pick #4"}, []string{crash}},
		"with blanks": {[]string{rejected}, []string{rejected}},
		"undeclared":  {[]string{"LostReply op create App #1"}, nil},
	} {
		var unused choice.Sequence
		for _, id := range c.unused {
			unused = append(unused, choice.Entry{ID: id, Value: 1})
		}
		if d := cmp.Diff(c.lost, lostFaults(whole, unused)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
