package a

import (
	"context"
	"math/rand"
	randv2 "math/rand/v2"
	"time"
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
