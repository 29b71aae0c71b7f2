// Package random draws from every source of random numbers that Go's runtime has, inside a bubble.
package random

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRandom(t *testing.T) {
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

var cache map[int]int

// TestLater says whether two bubbles of one process range alike over maps that are alike, although the first one fills a cache for all that
// come after it.
func TestLater(t *testing.T) {
	var seen [2]string
	for i := range seen {
		synctest.Test(t, func(t *testing.T) {
			if cache == nil {
				cache = map[int]int{1: 1, 2: 2}
				for k := range cache {
					cache[k]++
				}
			}
			letters := map[rune]bool{}
			for r := 'a'; r <= 'z'; r++ {
				letters[r] = true
			}
			for range 3 {
				time.Sleep(time.Second)
				for r := range letters {
					seen[i] += string(r)
				}
			}
		})
	}
	if seen[0] == seen[1] {
		fmt.Println("alike")
		return
	}
	fmt.Println(seen)
}

// TestMaps says whether two maps of one instant are gone through alike: by this sim knows the overlay.
func TestMaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		order := func() string {
			m := make(map[int]bool, 64)
			for i := range 64 {
				m[i] = true
			}
			out := ""
			for i := range m {
				out += fmt.Sprint(i, " ")
			}
			return out
		}
		fmt.Println(map[bool]string{true: "alike", false: "different"}[order() == order()])
	})
}
