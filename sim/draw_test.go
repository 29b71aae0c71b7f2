package sim_test

import (
	"fmt"

	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/sim/history"
)

var sources = rapid.IntRange(0, 100)

func fewerThan(n int) func(*history.History) error {
	return func(h *history.History) error {
		d, ok := data(h, "n")
		if ok && len(d["n"]) >= n {
			return fmt.Errorf("there are %d", len(d["n"]))
		}
		return nil
	}
}
