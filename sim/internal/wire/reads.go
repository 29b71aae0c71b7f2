package wire

import (
	"context"

	"github.com/wavetank/wavetank/history"
)

// This file notes which reads of a cache a request follows. The goroutine of a reconcile reads and
// sends in an order that the program decides. Other goroutines are left out, because their order is
// not the scheduler's choice.

type readsKey struct{}

// WithReads returns the context of a reconcile whose reads are noted.
func WithReads(ctx context.Context) context.Context {
	return context.WithValue(ctx, readsKey{}, new([]history.Read))
}

// AddRead notes a read of a cache, if reads are noted and the goroutine of the reconcile makes it.
func AddRead(ctx context.Context, made func() history.Read) {
	reads, ok := ctx.Value(readsKey{}).(*[]history.Read)
	if !ok {
		return
	}
	if from := callingGoroutine(); from.reconciles && from.line != "" {
		r := made()
		r.Source = from.line
		*reads = append(*reads, r)
	}
}

// TakeReads returns the reads that were noted since the last call.
func TakeReads(ctx context.Context) (out []history.Read) {
	if reads, ok := ctx.Value(readsKey{}).(*[]history.Read); ok {
		out, *reads = *reads, nil
	}
	return out
}
