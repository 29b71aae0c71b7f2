// Package dice rolls every die that Go's runtime has, inside a bubble.
package dice

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestDice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big, small := map[int]bool{}, map[string]bool{"a": true, "b": true, "c": true}
		for i := range 200 {
			big[i] = true
		}
		for i := range big {
			fmt.Print(i, " ")
		}
		for i := range small {
			fmt.Print(i, " ")
		}
		a, b := make(chan int, 50), make(chan int, 50)
		for i := range 50 {
			a <- i
			b <- i
		}
		for range 40 {
			select {
			case <-a:
				fmt.Print("a")
			case <-b:
				fmt.Print("b")
			}
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Add(1)
			time.AfterFunc(time.Second, func() {
				mu.Lock()
				fmt.Print(" t", i)
				mu.Unlock()
				wg.Done()
			})
		}
		wg.Wait()
		fmt.Println(" r", rand.Uint64())
	})
}
