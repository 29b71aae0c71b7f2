package sched

import (
	"runtime/metrics"
	"sync/atomic"
	"time"
)

// This file is for runs whose order something else than the scheduler decides.

// Words is the action in words. Of an action without words it is the order.
func (a *Action) Words() string {
	if a.What == nil {
		return a.Order
	}
	return a.What()
}

// SetNow sets virtual time, which then no longer passes by itself. It does not go back.
func (s *Scheduler) SetNow(t time.Duration) {
	if was := s.set.Load(); was != nil {
		t = max(t, *was)
	}
	s.set.Store(&t)
}

// Perform performs an action, due or not, and waits until every goroutine is blocked.
func (s *Scheduler) Perform(a *Action) {
	if s.Told != nil {
		s.Told(a)
	}
	atomic.StoreUint32(&a.done, 1)
	s.steps++
	s.setSlept(false)
	s.performing = true
	a.Do()
	s.performing = false
	s.Quiesce()
	s.observer.Stepped()
}

// Await waits until a goroutine calls [Scheduler.Wake], d at most. Nothing is performed.
func (s *Scheduler) Await(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.wake:
	}
	s.SetCurrent(nil)
	s.setSlept(true)
}

// AwaitQuiet waits until no goroutine can run. Outside a bubble nothing tells that for certain:
// three looks in a row must agree.
func AwaitQuiet() {
	samples := []metrics.Sample{
		{Name: "/sched/goroutines/runnable:goroutines"}, {Name: "/sched/goroutines/running:goroutines"},
	}
	began := time.Now()
	for calm := 0; calm < 3 && time.Since(began) < time.Second; {
		time.Sleep(300 * time.Microsecond)
		metrics.Read(samples)
		if samples[0].Value.Uint64() == 0 && samples[1].Value.Uint64() <= 1 {
			calm++
		} else {
			calm = 0
		}
	}
}
