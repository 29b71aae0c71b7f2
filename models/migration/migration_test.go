// This file exists to hold the model to its rules without a simulator.

package migration_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/migration"
)

func change(kind, name, annotations string) apiserver.Change {
	return apiserver.Change{Type: kind, Group: "apps", Resource: "deployments",
		Object: fmt.Appendf(nil, `{"metadata":{"namespace":"apps","name":%q,"annotations":{%s}}}`, name, annotations)}
}

func works(dataset string, level int) string {
	return fmt.Sprintf(`"migration.example/dataset":%q,"migration.example/level":"%d"`, dataset, level)
}

const needy = `,"migration.example/together":"true"`

func TestLevels(t *testing.T) {
	for name, c := range map[string]struct {
		changes       []apiserver.Change
		effects       []string
		apart, oldOne bool
	}{
		"up": {
			changes: []apiserver.Change{change("ADDED", "a", works("alpha", 1)),
				change("MODIFIED", "a", works("alpha", 2))},
			effects: []string{"migrated alpha/1", "migrated alpha/2"},
		},
		"not again": {
			changes: []apiserver.Change{change("ADDED", "a", works("alpha", 1)),
				change("MODIFIED", "a", works("alpha", 1))},
			effects: []string{"migrated alpha/1"},
		},
		"never down": {
			changes: []apiserver.Change{change("ADDED", "a", works("alpha", 2)),
				change("MODIFIED", "a", works("alpha", 1)), change("MODIFIED", "a", works("alpha", 2))},
			effects: []string{"migrated alpha/2", "outdated alpha/1"}, oldOne: true,
		},
		"apart": {
			changes: []apiserver.Change{change("ADDED", "a", works("alpha", 2)), change("ADDED", "b", works("beta", 1)),
				change("MODIFIED", "a", works("alpha", 0)+needy)},
			effects: []string{"migrated alpha/2", "migrated beta/1", "apart alpha is at level 2, beta is at level 1"},
			apart:   true,
		},
		"gone before": {
			changes: []apiserver.Change{change("ADDED", "a", works("alpha", 1)+needy),
				change("DELETED", "a", works("alpha", 1)+needy), change("ADDED", "b", works("beta", 2))},
			effects: []string{"migrated alpha/1", "migrated beta/2"},
		},
		"others": {changes: []apiserver.Change{change("ADDED", "a", ""), {Type: "ADDED", Resource: "pods"}}},
	} {
		var h history.History
		d := migration.New(history.WithLedger(context.Background(), h.Record))
		for _, ch := range c.changes {
			d.Observe(ch)
		}
		var got []string
		for _, e := range h.Effects("") {
			got = append(got, e.Kind+" "+e.Key)
		}
		if diff := cmp.Diff(c.effects, got); diff != "" {
			t.Errorf("%s: effects (-want +got):\n%s", name, diff)
		}
		if (d.AtOneLevel(&h) != nil) != c.apart || (d.NotOutdated(&h) != nil) != c.oldOne {
			t.Errorf("%s: %v, %v", name, d.AtOneLevel(&h), d.NotOutdated(&h))
		}
	}
}
