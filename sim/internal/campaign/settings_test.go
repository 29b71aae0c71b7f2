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

func TestSettingsThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(*Settings){
		"-sim.runs=-1 is negative; write 0 for as many runs":             func(s *Settings) { s.Runs = -1 },
		"-sim.for=-1s is negative; write 0 for no limit":                 func(s *Settings) { s.Budget = -time.Second },
		"-sim.runs=0 and -sim.for=0 together would never end":            func(s *Settings) { s.Runs, s.Budget = 0, 0 },
		"-sim.max-steps=0 must be positive":                              func(s *Settings) { s.Run.MaxSteps = 0 },
		"-sim.verify=-1 is negative; write 0 for never":                  func(s *Settings) { s.Verify = -1 },
		"-sim.shrink=-1s is negative":                                    func(s *Settings) { s.Shrink = -time.Second },
		`-sim.seed="monday" is neither a number nor "random"`:            func(s *Settings) { s.Seed = "monday" },
		`-sim.strategy="hope" is unknown; write one of portfolio, burst`: func(s *Settings) { s.Strategy = "hope" },
		`-sim.drift="never" is unknown; write warn or fail`:              func(s *Settings) { s.Drift = "never" },
		"-sim.child holds runs to a story": func(s *Settings) {
			s.Child, s.Free = true, true
		},
	} {
		s := FromFlags(t)
		change(&s)
		if err := s.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
