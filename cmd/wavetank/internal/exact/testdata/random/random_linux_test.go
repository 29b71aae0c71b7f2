package random

import (
	"fmt"
	"runtime/debug"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
)

// TestOrder prints the order in which goroutines get on that the operating system and the garbage collector keep waiting.
func TestOrder(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	synctest.Test(t, func(t *testing.T) {
		var wg sync.WaitGroup
		each := func(name string, do func()) {
			wg.Go(func() {
				for range 3 {
					fmt.Print(name)
					do()
				}
			})
		}
		slow := syscall.NsecToTimespec(20e6)
		each("s", func() { syscall.Nanosleep(&slow, nil) })
		for _, name := range []string{"a", "b", "c"} {
			each(name, func() {
				type list struct{ next *list }
				var l *list
				for range 300_000 {
					l = &list{l}
				}
			})
		}
		wg.Wait()
		fmt.Println()
	})
}
