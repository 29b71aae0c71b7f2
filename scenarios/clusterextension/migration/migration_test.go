// This file exists to hold the model to its rules without a simulator.

package migration_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/scenarios/clusterextension/migration"
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

// cluster is one in which there is one Deployment, and every step happens when it is due.
type cluster struct {
	actor.Cluster
	now   time.Duration
	steps map[string]step
	is    appsv1.Deployment
}

type step struct {
	due time.Duration
	do  func()
}

func (c *cluster) After(d time.Duration, key string, do func()) { c.steps[key] = step{c.now + d, do} }
func (c *cluster) Again(d time.Duration, key string, do func()) { c.After(d, key, do) }

func (c *cluster) Read(*apiserver.Request) *apiserver.Response {
	data, err := json.Marshal(&c.is)
	if err != nil {
		panic(err)
	}
	return &apiserver.Response{Code: http.StatusOK, Body: data}
}

func (c *cluster) Write(r *apiserver.Request) *apiserver.Response {
	var next appsv1.Deployment
	if err := json.Unmarshal(r.Body, &next); err != nil {
		panic(err)
	}
	c.is = next
	return &apiserver.Response{Code: http.StatusOK, Body: r.Body}
}

// pass lets time pass.
func (c *cluster) pass(d time.Duration) {
	for until := c.now + d; ; {
		first := ""
		for key, s := range c.steps {
			if s.due <= until && (first == "" || s.due < c.steps[first].due) {
				first = key
			}
		}
		if first == "" {
			c.now = until
			return
		}
		s := c.steps[first]
		delete(c.steps, first)
		c.now = max(c.now, s.due)
		s.do()
	}
}

// applied is a change to a generation of the workload a.
func (c *cluster) applied(generation int64, annotations map[string]string) apiserver.Change {
	c.is.ObjectMeta = metav1.ObjectMeta{Namespace: "apps", Name: "a", Generation: generation,
		Annotations: annotations}
	data, err := json.Marshal(&c.is)
	if err != nil {
		panic(err)
	}
	return apiserver.Change{Type: "MODIFIED", Group: "apps", Resource: "deployments", Object: data}
}

// A migration takes its time, fails as often as it should, and then the workload is ready. If it
// is replaced meanwhile, the data stays half migrated.
func TestMigrationsThatTakeTime(t *testing.T) {
	to := func(level string) map[string]string {
		return map[string]string{migration.Dataset: "alpha", migration.Level: level, migration.Takes: "2m",
			migration.Fails: "1", migration.Ready: "30s"}
	}
	var h history.History
	c := &cluster{steps: map[string]step{}}
	d := migration.New(history.WithLedger(context.Background(), h.Record))
	d.Begin(c)
	check := func(when string, level int, ready int32, seen int64) {
		t.Helper()
		s := c.is.Status
		if d.LevelOf("alpha") != level || s.AvailableReplicas != ready || s.ObservedGeneration != seen {
			t.Errorf("%s: level %d, status %+v", when, d.LevelOf("alpha"), s)
		}
	}
	d.Observe(c.applied(1, to("1")))
	check("at once", 0, 0, 0)
	c.pass(3 * time.Minute)
	check("after one failure", 0, 0, 1)
	d.Observe(c.applied(1, to("1"))) // which is no news
	c.pass(time.Minute)
	check("migrated", 1, 0, 1)
	c.pass(30 * time.Second)
	check("ready", 1, 1, 1)

	d.Observe(c.applied(2, to("2")))
	c.pass(time.Minute)
	if d.AtOneLevel(&h) != nil {
		t.Error("nobody needs all data at one level yet")
	}
	together := map[string]string{migration.Dataset: "alpha", migration.Level: "0", migration.Together: "true"}
	d.Observe(c.applied(3, together))
	if d.AtOneLevel(&h) == nil {
		t.Error("it works with data that are half migrated")
	}
	c.pass(time.Hour)
	check("replaced", 1, 0, 2)
	d.Observe(c.applied(4, map[string]string{migration.Dataset: "alpha", migration.Level: "2",
		migration.Takes: "2m", migration.Fails: migration.Always}))
	c.pass(time.Hour)
	check("it always fails", 1, 0, 4)
	if n := len(h.Effects(migration.Failed)); n != 1+30 {
		t.Errorf("%d migrations have failed", n)
	}
}
