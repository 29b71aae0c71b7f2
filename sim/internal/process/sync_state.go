package process

import (
	"sync"
	"sync/atomic"

	"github.com/wavetank/wavetank/internal/versions"
)

// syncState reports whether an informer or a handler had synced at the last quiet moment.
//
// Its channel also closes when the incarnation is over. controller-runtime's caches of several
// namespaces wait for it without a context: in production the end of the process ends that wait.
type syncState struct {
	name   string
	is     atomic.Bool
	asked  atomic.Bool // somebody may wait for the channel
	done   chan struct{}
	closed sync.Once
}

func newSyncState(name string) *syncState {
	return &syncState{name: name, done: make(chan struct{})}
}

// checker is for those who wait for the channel.
func (s *syncState) checker() versions.DoneChecker {
	s.asked.Store(true)
	return s
}

func (s *syncState) Name() string          { return s.name }
func (s *syncState) Done() <-chan struct{} { return s.done }

// set notes that it has synced. It reports whether a goroutine may go on because of that.
func (s *syncState) set() (woke bool) {
	s.is.Store(true)
	s.end()
	return s.asked.Load()
}

// end lets those go on who wait.
func (s *syncState) end() { s.closed.Do(func() { close(s.done) }) }
