package process

import (
	"cmp"
	"slices"
	"strings"
)

// inTurn is called before a goroutine may wait for a cache, and the function that it returns after
// that. If the goroutine has waited, that function blocks until it is its turn to go on.
//
// client-go's WaitForCacheSync looks every 100 ms. Several goroutines wake up at one instant, in an
// order that the runtime chooses, and what one does next may matter to another: a new informer has
// to sync, too, before a controller starts. So each goes on alone, until the world is quiet again.
func (i *Incarnation) inTurn(what string) func() {
	since := i.world.Sched.Now()
	i.mu.Lock()
	i.waits++
	t := turn{what, i.waits, make(chan struct{})}
	i.mu.Unlock()
	return func() {
		if i.world.Sched.Now() == since || i.ctx.Err() != nil {
			return // it did not wait, or a manager that ends goes round until it is told
		}
		i.await(t)
	}
}

// startInTurn blocks a goroutine that a manager has made for one of the program's own runnables.
// What these do first may race: GetInformer waits until the informer has synced if its cache has
// started, and not if that comes later. n counts the runnables in the order in which they were
// added.
func (i *Incarnation) startInTurn(n int) { i.await(turn{"", n, make(chan struct{})}) }

// await blocks until the turn has come, or not at all when the incarnation has been released.
func (i *Incarnation) await(t turn) {
	i.mu.Lock()
	released := i.released
	if !released {
		i.turns = append(i.turns, t)
	}
	i.mu.Unlock()
	if !released {
		i.world.Sched.Wake()
		<-t.gone
	}
}

// nextTurn lets the first of those go on who wait for their turn. It reports whether there was one.
func (i *Incarnation) nextTurn() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.turns) == 0 {
		return false
	}
	slices.SortFunc(i.turns, func(a, b turn) int { return cmp.Or(strings.Compare(a.what, b.what), a.n-b.n) })
	close(i.turns[0].gone)
	i.turns = i.turns[1:]
	return true
}
