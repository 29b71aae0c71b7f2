// This file exists for the stories that the project keeps under testdata/catalogue: how the variants at which the thread
// stopped go wrong, each by a single kind of fault and in its shortest form. Each must still break the variant that it
// tells of, and must leave the full cure alone.

package promotion

import (
	"fmt"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/story"
)

// Fall is one way in which a variant goes wrong.
type Fall struct {
	Variant promotion.Variant
	// When it does, for people.
	When   string
	Tell   Telling
	Faults func() []sim.Fault
	// Broken is the sentence that it breaks, and Most the number of faults in the shortest story.
	Broken string
	Most   int
}

// Falls are the stories of the catalogue.
func Falls() []Fall {
	return []Fall{
		{"V1", "its cache lags", OneEvent, lag, AttemptedOnce, 1},
		{"V3", "a burst of events meets a lagging cache", Burst, lag, AttemptedOnce, 2},
		{"V3", "it dies before it has recorded what it did", OneEffect, crash, TakesEffectOnce, 1},
		{"V3", "its record is lost on the way", OneEffect, lostPatch, TakesEffectOnce, 1},
	}
}

// Of is the scenario of the fall for a variant: the faulty one, or the one that must stand.
func (f Fall) Of(v promotion.Variant) func(*sim.World) { return f.Tell(v, f.Faults()...) }

// catalogue is where the stories are kept; update is the environment variable that has them found and written anew.
const (
	catalogue = "testdata/catalogue"
	update    = "CATALOGUE_UPDATE"
)

// kept finds the story that a test keeps in the catalogue.
func kept(test string) (path string, s *story.Story, err error) {
	paths, err := story.List(catalogue)
	if err != nil {
		return "", nil, err
	}
	for _, path := range paths {
		s, err := story.Read(path)
		if err != nil || s.Test == test {
			return path, s, err
		}
	}
	return "", nil, fmt.Errorf("%s holds no story of %q; run its test with %s=1 and commit what it writes", catalogue, test, update)
}

// stale says why a story no longer tells what it told, given the runs of the faulty and of the cured variant.
func stale(s *story.Story, faulty, cured sim.Report) error {
	again := "; run " + s.Test + " with " + update + "=1, and see in the difference what has changed"
	switch f := faulty.Failure; {
	case f == nil:
		return fmt.Errorf("the story does not break %q any more%s", s.Property, again)
	case f.Property != s.Property:
		return fmt.Errorf("the story now breaks %q (%s), not %q%s", f.Property, f.Message, s.Property, again)
	case f.Story.After.Faults != s.After.Faults:
		return fmt.Errorf("%d faults strike in the story, not %d as it says%s", f.Story.After.Faults, s.After.Faults, again)
	case cured.Failure != nil:
		return fmt.Errorf("the story breaks the full cure: %s", cured.Failure.Text())
	}
	return nil
}
