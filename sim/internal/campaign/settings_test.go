package campaign

import (
	"strings"
	"testing"
	"time"
)

func TestWindowsThatCannotBe(t *testing.T) {
	for want, row := range map[string]struct {
		window   time.Duration
		strategy string
	}{
		"shorter than 1m0s":                {time.Second, "random"},
		"-sim.strategy=portfolio plans":    {time.Hour, "portfolio"},
		"-sim.strategy=exhaustive plans":   {time.Hour, "exhaustive"},
		"sim.Window(-1h0m0s) is shorter t": {-time.Hour, "random"},
	} {
		s := FromFlags(t)
		s.Run.Window, s.Strategy = row.window, row.strategy
		if err := s.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
