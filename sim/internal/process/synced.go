package process

import (
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/cache"
)

// synced says whether an informer or a handler has synced, as seen at the last quiet moment.
//
// Its channel also closes when the incarnation is over. controller-runtime's caches of several
// namespaces wait for it without a context: in production the end of the process ends that wait.
type synced struct {
	inner  cache.DoneChecker
	is     atomic.Bool
	asked  atomic.Bool // somebody may wait for the channel
	done   chan struct{}
	closed sync.Once
}

func newSynced(inner cache.DoneChecker) *synced {
	return &synced{inner: inner, done: make(chan struct{})}
}

// checker is for those who wait for the channel.
func (s *synced) checker() cache.DoneChecker {
	s.asked.Store(true)
	return s
}

// Name implements cache.DoneChecker.
func (s *synced) Name() string { return s.inner.Name() }

// Done implements cache.DoneChecker.
func (s *synced) Done() <-chan struct{} { return s.done }

// set says that it has synced. It reports whether somebody may go on because of that.
func (s *synced) set() (woke bool) {
	s.is.Store(true)
	s.end()
	return s.asked.Load()
}

// end lets those who wait go on.
func (s *synced) end() { s.closed.Do(func() { close(s.done) }) }
