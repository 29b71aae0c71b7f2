package process

import (
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// syncState says whether an informer or a handler had synced at the last quiet moment.
//
// Its channel also closes when the incarnation is over. controller-runtime's caches of several
// namespaces wait for it without a context: in production the end of the process ends that wait.
type syncState struct {
	inner  cache.DoneChecker
	is     atomic.Bool
	asked  atomic.Bool // somebody may wait for the channel
	done   chan struct{}
	closed sync.Once
}

func newSyncState(inner cache.DoneChecker) *syncState {
	return &syncState{inner: inner, done: make(chan struct{})}
}

// checker is for those who wait for the channel.
func (s *syncState) checker() cache.DoneChecker {
	s.asked.Store(true)
	return s
}

// Name implements cache.DoneChecker.
func (s *syncState) Name() string { return s.inner.Name() }

// Done implements cache.DoneChecker.
func (s *syncState) Done() <-chan struct{} { return s.done }

// set notes that it has synced. It reports whether a goroutine may go on because of that.
func (s *syncState) set() (woke bool) {
	s.is.Store(true)
	s.end()
	return s.asked.Load()
}

// end lets those go on who wait.
func (s *syncState) end() { s.closed.Do(func() { close(s.done) }) }
