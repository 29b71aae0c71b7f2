// Package bubble runs a function in a synctest bubble and names the goroutines that it leaves
// behind.
package bubble

import (
	"errors"
	"testing"
	"testing/synctest"
)

// ErrFailed says that package testing failed the bubble's test: it looks for data races when the
// bubble is over.
var ErrFailed = errors.New("the test was failed from inside the run")

// Run runs f in a bubble, on a goroutine of its own, so that nothing inside can end the caller's
// goroutine. The error is [ErrFailed], a [*LeftBehind], or nil.
func Run(t *testing.T, f func(*testing.T)) (err error) {
	done := make(chan struct{})
	finished := false
	go func() {
		defer close(done)
		defer func() {
			if v := recover(); v != nil {
				err = &LeftBehind{why: v}
			} else if !finished {
				err = ErrFailed
			}
		}()
		synctest.Test(t, f)
		finished = true
	}()
	<-done
	return err
}
