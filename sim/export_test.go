package sim

import (
	"testing"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/story"
)

// Breaks tells whether the scenario breaks the story's property when the story's tape is played.
func Breaks(t *testing.T, scenario func(*World), path string) bool {
	t.Helper()
	s, err := story.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Enter(runLog(), process.Outside{})()
	v := execute(t, scenario, choice.Play(tapeOf(s)), flags).verdict
	return v != nil && v.Property == s.Property
}

// ForgetCampaigns lets the next campaign of a test be its first again, as in a new process.
func ForgetCampaigns() { clear(campaigns.n) }

// Versions is what stories are recorded with.
func Versions() map[string]string { return versions() }
