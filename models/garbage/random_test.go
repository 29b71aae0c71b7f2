package garbage_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/garbage"
)

// slow makes steps take a while, by chance.
type slow struct {
	actor.Actor
	rand *rand.Rand
}

func (s *slow) Begin(c actor.Cluster) { s.Actor.Begin(&slowed{c, s.rand}) }

type slowed struct {
	actor.Cluster
	rand *rand.Rand
}

func (s *slowed) After(d time.Duration, key string, step func()) {
	s.Cluster.After(d+time.Duration(s.rand.IntN(50))*time.Millisecond, key, step)
}

type member struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
}

// TestRandomFamilies makes objects that own each other in any way, deletes some in any way, in any
// order of steps, and asks what must be true of what is left.
func TestRandomFamilies(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		c := cluster(t, &slow{garbage.New(), rnd})
		c.Choice = func(_ string, n int) int { return rnd.IntN(n) }
		refs := generations(t, c, rnd)
		for range 4 {
			name := refs[rnd.IntN(len(refs))].Name
			policy := []metav1.DeletionPropagation{"Background", "Foreground", "Orphan"}[rnd.IntN(3)]
			c.Do(http.MethodDelete, maps+"/"+name, object{"propagationPolicy": policy}, nil)
			c.Run(time.Duration(rnd.IntN(200)) * time.Millisecond)
		}
		for _, r := range refs { // those that go anyway want no telling
			c.Do(http.MethodPatch, maps+"/"+r.Name, object{"metadata": object{"labels": object{"seen": "true"}}}, nil)
			c.Do(http.MethodPatch, maps+"/"+r.Name+"?fieldManager=holder",
				object{"metadata": object{"finalizers": kept(c, r.Name)}}, nil)
		}
		c.Run(time.Hour)
		if err := judge(c); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if p := pending(c); len(p) != 0 {
			t.Fatalf("seed %d: all is done, and this is pending: %v", seed, p)
		}
		quiet := len(c.Changes)
		c.Add(garbage.New())
		c.Run(time.Hour)
		if len(c.Changes) != quiet {
			t.Fatalf("seed %d: a restarted collector finds something to do: %v", seed, c.Changes[quiet:])
		}
	}
}

// generations makes a dozen objects with owners among each other, some of them absent, some in a
// circle, some held.
func generations(t *testing.T, c *actortest.Cluster, rnd *rand.Rand) (refs []metav1.OwnerReference) {
	for i := range 12 {
		var owners []metav1.OwnerReference
		for range rnd.IntN(4) {
			if len(refs) == 0 {
				break
			}
			o := refs[rnd.IntN(len(refs))]
			if rnd.IntN(12) == 0 {
				o.UID = "11111111-1111-1111-1111-111111111111"
			}
			if slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool { return r.UID == o.UID }) {
				continue
			}
			o.BlockOwnerDeletion = new(rnd.IntN(2) == 0)
			owners = append(owners, o)
		}
		name := fmt.Sprintf("m%02d", i)
		m := must(t, c, http.MethodPost, maps, object{"metadata": object{"name": name, "ownerReferences": owners}})
		if rnd.IntN(4) == 0 {
			c.Do(http.MethodPatch, maps+"/"+name, object{"metadata": object{"finalizers": []string{"x.example/one"}}},
				nil)
		}
		refs = append(refs, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: name, UID: m.UID})
	}
	if rnd.IntN(2) == 0 {
		late := refs[len(refs)-1]
		late.BlockOwnerDeletion = new(true)
		c.Do(http.MethodPatch, maps+"/m00",
			object{"metadata": object{"ownerReferences": []metav1.OwnerReference{late}}}, nil)
	}
	return refs
}

// kept are the finalizers of an object without the one that only holds it.
func kept(c *actortest.Cluster, name string) []string {
	var m member
	c.Do(http.MethodGet, maps+"/"+name, nil, &m)
	return slices.DeleteFunc(m.Metadata.Finalizers, func(f string) bool { return f == "x.example/one" })
}

// judge looks for what the collector should not have left.
func judge(c *actortest.Cluster) error {
	var list struct {
		Items []member `json:"items"`
	}
	c.Do(http.MethodGet, maps, nil, &list)
	alive := map[string]bool{}
	for _, m := range list.Items {
		alive[string(m.Metadata.UID)] = true
	}
	for _, m := range list.Items {
		if m.Metadata.DeletionTimestamp != nil {
			return fmt.Errorf("%s is still being deleted, held by %v", m.Metadata.Name, m.Metadata.Finalizers)
		}
		absent := 0
		for _, o := range m.Metadata.OwnerReferences {
			if !alive[string(o.UID)] {
				absent++
			}
		}
		if absent > 0 {
			return fmt.Errorf("%s names %d owners that are not there, of %d", m.Metadata.Name, absent,
				len(m.Metadata.OwnerReferences))
		}
	}
	return nil
}
