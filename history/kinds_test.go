package history_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wavetank/wavetank/history"
)

// The objects of a kind are kept in order; they are those that a look at all objects finds.
func TestObjectsOfAKindAreThoseOfAllObjects(t *testing.T) {
	type kind struct{ cluster, group, kind string }
	kinds := []kind{{"", "", "Pod"}, {"", "apps", "Pod"}, {"prod", "", "Pod"}, {"", "", "Node"}}
	h, random := &history.History{}, rand.New(rand.NewPCG(1, 2))
	for i := range 2_000 {
		k := kinds[random.IntN(len(kinds))]
		ref := history.Ref{Cluster: k.cluster, Group: k.group, Kind: k.kind,
			Namespace: fmt.Sprint("n", random.IntN(3)), Name: fmt.Sprint(random.IntN(5))}
		change := history.Change{Type: "MODIFIED", Ref: ref, Revision: int64(i)}
		if random.IntN(2) == 0 {
			change.Type = "DELETED"
		}
		h.Add(history.Event{Kind: history.Request, Changes: []history.Change{change}})
		for _, k := range kinds {
			want := h.Live(func(ref history.Ref) bool {
				return ref.Cluster == k.cluster && ref.Group == k.group && ref.Kind == k.kind
			})
			var got []history.Object
			read, _ := h.Reads(func() error {
				got = h.ObjectsIn(k.cluster, k.group, k.kind)
				return errors.New("wrong")
			})
			if !slices.EqualFunc(got, want, history.Object.Equal) || len(read) != len(want) {
				t.Fatalf("%v after %v: %v, want %v", k, change, got, want)
			}
		}
	}
}
