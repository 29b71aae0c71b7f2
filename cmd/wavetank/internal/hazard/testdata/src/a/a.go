package a

import (
	"context"
	"maps"
	"math/rand"
	randv2 "math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
)

type object struct{ name string }

type writer interface {
	Create(ctx context.Context, o *object) error
	Update(ctx context.Context, o *object) error
}

type reconciler struct {
	client writer
	wanted map[string]*object
}

func (r *reconciler) Reconcile(ctx context.Context, name string) error {
	for _, o := range r.wanted { // want `Create inside a range over a map`
		if err := r.client.Create(ctx, o); err != nil {
			return err
		}
	}
	for name := range r.wanted { // only reads
		_ = name
	}
	for _, o := range []*object{{"a"}, {"b"}} { // a slice has an order
		_ = r.client.Update(ctx, o)
	}
	go r.helper(ctx)   // want `a goroutine in a reconciler`
	_ = randv2.IntN(3) // want `rand.IntN of math/rand/v2 cannot be seeded`
	_ = rand.Intn(3)
	r.lists()
	var all sync.WaitGroup
	all.Go(func() { _ = r.client.Update(ctx, nil) }) // want `sync.Go in a reconciler`
	_ = randv2.New(randv2.NewPCG(1, 2)).IntN(3)
	return r.helper(ctx)
}

func (r *reconciler) helper(ctx context.Context) error {
	a, b := make(chan int), make(chan int)
	select { // want `select over 2 channels`
	case <-a:
	case <-b:
	case <-ctx.Done():
	}
	select { // one channel and the end of the context
	case <-a:
	case <-ctx.Done():
	}
	return nil
}

// Nobody who reconciles calls this.
func main(ctx context.Context, r *reconciler) {
	go func() { time.Sleep(time.Second) }()
	for _, o := range r.wanted {
		_ = r.client.Create(ctx, o)
	}
}

type sheet struct{ names []string }

func (r *reconciler) lists() {
	var names, sorted, later []string
	for name := range r.wanted { // want `names is appended to inside a range over a map and is not sorted`
		names = append(names, name)
	}
	for name := range r.wanted {
		if name != "" {
			sorted = append(sorted, name)
		}
	}
	slices.Sort(sorted)
	_, _ = names, later
	r.others()
}

func (r *reconciler) others() {
	s := &sheet{}
	for name, o := range r.wanted { // want `s.names is appended to inside a range over a map`
		own := []string{name}
		own = append(own, o.name) // a list of one key
		s.names = append(s.names, strings.Join(own, ""))
	}
	var objects []*object
	for o := range maps.Values(r.wanted) { // want `objects is appended to`
		objects = append(objects, o)
	}
	keys := slices.Collect(maps.Keys(r.wanted)) // want `keys is collected from a map and is not sorted`
	_, _ = keys, objects
	byName := map[string][]int{}
	for name := range r.wanted {
		byName[name] = append(byName[name], 1)
	}
	for _, name := range []string{"a"} {
		s.names = append(s.names, name)
	}
	r.sorted()
}

func (r *reconciler) sorted() {
	keys := slices.Collect(maps.Keys(r.wanted))
	sort.Strings(keys)
	n := 0
	for range r.wanted {
		n++
	}
	names := r.names()
	sort.Slice(names, func(i, j int) bool { return names[i] < names[j] })
	r.rest()
}

func (r *reconciler) names() (names []string) { // who calls it sorts
	for name := range r.wanted {
		names = append(names, name)
	}
	return names
}

func (r *reconciler) rest() {
	var objects []*object
	for _, o := range r.wanted {
		objects = append(objects, o)
	}
	sort.Sort(byName(objects))
}

type byName []*object

func (b byName) Len() int           { return len(b) }
func (b byName) Less(i, j int) bool { return b[i].name < b[j].name }
func (b byName) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

// Who reconciles in another package calls this.
func Env(of map[string]string) (env []v1.EnvVar, flags []string) {
	for name, value := range of { // want `env is appended to`
		env = append(env, v1.EnvVar{Name: name, Value: value})
		flags = append(flags, name)
	}
	return env, flags
}
