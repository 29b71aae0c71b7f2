package namespace_test

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/namespace"
)

// slow makes each step take as long as late says.
type slow struct {
	actor.Actor
	late func(key string) time.Duration
}

func (s *slow) Begin(c actor.Cluster) { s.Actor.Begin(&slowed{c, s.late}) }

type slowed struct {
	actor.Cluster
	late func(key string) time.Duration
}

func (s *slowed) After(d time.Duration, key string, step func()) {
	s.Cluster.After(d+s.late(key), key, step)
}

func TestAPassThatIsDueDuringAnotherComesAtOnce(t *testing.T) {
	passes := 0
	a := actortest.Between(namespace.New(), func(r *apiserver.Request) error {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/configmaps") {
			passes++
		}
		return nil
	})
	c := world(t, &slow{a, func(key string) time.Duration {
		if strings.HasPrefix(key, "pass") {
			return 6 * time.Second
		}
		return 0
	}})
	must(t, c, http.MethodPost, shop+"/configmaps", configMap("a", "x.example/one"))
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(5 * time.Second) // the first pass begins
	must(t, c, http.MethodPatch, shop,
		object{"metadata": object{"labels": object{"seen": "true"}}}) // brings one after 10 s
	c.Run(11 * time.Second)
	if passes != 1 {
		t.Fatalf("%d passes before the first can have ended", passes)
	}
	c.Run(2 * time.Second)
	if passes != 2 {
		t.Errorf("%d passes; one that is due during another should follow it at once", passes)
	}
}

func TestANamespaceThatIsFinalizedIsLeftAlone(t *testing.T) {
	writes := 0
	c := world(t, actortest.Between(namespace.New(), func(*apiserver.Request) error { writes++; return nil }))
	must(t, c, http.MethodPatch, shop, object{"metadata": object{"finalizers": []string{"x.example/one"}}})
	must(t, c, http.MethodDelete, shop, nil)
	c.Run(time.Minute)
	if writes != 2 {
		t.Errorf("%d writes; the conditions and the end of the controller's part are expected", writes)
	}
	must(t, c, http.MethodPatch, shop, object{"metadata": object{"labels": object{"seen": "true"}}})
	c.Run(time.Minute)
	if writes != 2 {
		t.Errorf("%d writes to a namespace that the controller has done with", writes-2)
	}
}

// TestRandomNamespaces empties namespaces in any order, with steps that take any time and holders
// that let go at any time.
func TestRandomNamespaces(t *testing.T) {
	for seed := range uint64(100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var opts []namespace.Option
		if seed%2 == 0 {
			opts = append(opts, namespace.AnyOrder())
		}
		c := world(t, &slow{namespace.New(opts...),
			func(string) time.Duration { return time.Duration(rnd.IntN(8000)) * time.Millisecond }})
		c.Choice = func(_ string, n int) int { return rnd.IntN(n) }
		held := []string{}
		for _, kind := range []string{"configmaps", "secrets", "serviceaccounts"} {
			for _, name := range []string{"a", "b"} {
				finalizers := []string{}
				if rnd.IntN(2) == 0 {
					finalizers = []string{"x.example/one"}
					held = append(held, shop+"/"+kind+"/"+name)
				}
				must(t, c, http.MethodPost, shop+"/"+kind, configMap(name, finalizers...))
			}
		}
		must(t, c, http.MethodDelete, shop, nil)
		for _, path := range held {
			c.Run(time.Duration(rnd.IntN(20)) * time.Second)
			if !exists(c, shop) {
				t.Fatalf("seed %d: the namespace went before %s", seed, path)
			}
			must(t, c, http.MethodPatch, path, object{"metadata": object{"finalizers": nil}})
		}
		c.Run(5 * time.Minute)
		if exists(c, shop) {
			t.Fatalf("seed %d: nothing holds the namespace, and it is still there", seed)
		}
		if p := c.Pending("namespace-controller"); len(p) != 0 {
			t.Fatalf("seed %d: the namespace has gone, and this is pending: %v", seed, p)
		}
	}
}
