package process

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// turns let goroutines of an incarnation continue one at a time.
type turns struct {
	*core

	mu       sync.Mutex
	waiting  []turn
	begun    int // how many have begun to wait
	released bool
}

// turn is a goroutine that waits until gone is closed.
type turn struct {
	what string
	n    int // of those that began to wait
	gone chan struct{}
}

// inTurn is called before a goroutine may wait for a cache, and the function that it returns after
// that. If the goroutine has waited, that function blocks until its turn comes.
//
// client-go's WaitForCacheSync looks every 100 ms. Several goroutines wake up at one instant, in an
// order that the runtime chooses, and what one does next may matter to another: a new informer has
// to sync, too, before a controller starts. So each continues alone, until the world is quiet.
func (t *turns) inTurn(what string) func() {
	since := t.Sched.Now()
	t.mu.Lock()
	t.begun++
	own := turn{what, t.begun, make(chan struct{})}
	t.mu.Unlock()
	return func() {
		if t.Sched.Now() == since || t.ctx.Err() != nil {
			return // it did not wait, or a manager that ends asks until its context is done
		}
		t.await(own)
	}
}

// startInTurn blocks a goroutine that a manager has made for one of the program's own runnables.
// What these do first may race: GetInformer waits until the informer has synced if its cache has
// started, and not if that comes later. n counts the runnables in the order in which they were
// added.
func (t *turns) startInTurn(n int) { t.await(turn{"", n, make(chan struct{})}) }

// await blocks until the turn has come, or not at all when the incarnation has been released.
func (t *turns) await(own turn) {
	t.mu.Lock()
	released := t.released
	if !released {
		t.waiting = append(t.waiting, own)
	}
	t.mu.Unlock()
	if !released {
		t.Sched.Wake()
		<-own.gone
	}
}

// next lets the first goroutine that waits continue. It reports whether there was one.
func (t *turns) next() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waiting) == 0 {
		return false
	}
	slices.SortFunc(t.waiting, func(a, b turn) int { return cmp.Or(strings.Compare(a.what, b.what), a.n-b.n) })
	close(t.waiting[0].gone)
	t.waiting = t.waiting[1:]
	return true
}

// release lets no goroutine wait any more, except those that do.
func (t *turns) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.released = true
}
