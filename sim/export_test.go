package sim

import (
	"testing"

	"github.com/go-logr/logr"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// Breaks reports whether the scenario violates the story's property when its choices are played.
func Breaks(t *testing.T, scenario func(*World), path string) bool {
	t.Helper()
	s, err := story.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	defer process.Enter(logr.Discard(), process.Outside{})()
	e := runnerOf(scenario)(t, choice.Play(s.Choices), run.Settings{MaxSteps: 50000}).Ending
	return e.Failed() && e.Property == s.Property
}
