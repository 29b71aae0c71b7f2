package process

import (
	"cmp"
	"slices"
	"strings"
)

// turn is a goroutine that waits until gone is closed.
type turn struct {
	what string
	n    int // of those who began to wait
	gone chan struct{}
}

// inTurn is called before a goroutine may wait for a cache, and the function that it returns after
// that. If the goroutine has waited, that function blocks until it is its turn to go on.
//
// client-go's WaitForCacheSync looks every 100 ms. Several goroutines wake up at one instant, in an
// order that the runtime chooses, and what one does next may matter to another: a new informer has
// to sync, too, before a controller starts. So each goes on alone, until the world is quiet again.
func (l *Incarnation) inTurn(what string) func() {
	since := l.world.Sched.Now()
	l.mu.Lock()
	l.waits++
	t := turn{what, l.waits, make(chan struct{})}
	l.mu.Unlock()
	return func() {
		if l.world.Sched.Now() == since || l.ctx.Err() != nil {
			return // it did not wait, or a manager that ends goes round until it is told
		}
		l.await(t)
	}
}

// startInTurn blocks a goroutine that a manager has made for one of the program's own runnables.
// What these do first may race: GetInformer waits until the informer has synced if its cache has
// started, and not if that comes later. n counts the runnables in the order in which they were
// added.
func (l *Incarnation) startInTurn(n int) { l.await(turn{"", n, make(chan struct{})}) }

// await blocks until the turn has come, or not at all when the incarnation has been released.
func (l *Incarnation) await(t turn) {
	l.mu.Lock()
	released := l.released
	if !released {
		l.turns = append(l.turns, t)
	}
	l.mu.Unlock()
	if !released {
		l.world.Sched.Wake()
		<-t.gone
	}
}

// nextTurn lets the first of those go on who wait for their turn. It reports whether there was one.
func (l *Incarnation) nextTurn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.turns) == 0 {
		return false
	}
	slices.SortFunc(l.turns, func(a, b turn) int { return cmp.Or(strings.Compare(a.what, b.what), a.n-b.n) })
	close(l.turns[0].gone)
	l.turns = l.turns[1:]
	return true
}
