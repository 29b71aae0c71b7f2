package campaign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/result"
)

// The statements of a story file of which one no longer holds when the story is outdated.
const (
	propertyChanged = "property" // the scenario has no property of this kind and sentence
	placeChanged    = "declared" // the property is declared elsewhere, and another one is violated
	scenarioChanged = "scenario" // the property stands where it stood, and another one is violated
)

// outdatedStory is the strategy of failures that outdated stories came to.
const outdatedStory = "an outdated story"

// stillFails reports whether a run violates what a story says.
func stillFails(s *story.Story, e result.Ending) bool {
	return e.Failed() && e.Kind.String() == s.Kind && (s.Property == "" || e.Property == s.Property)
}

// outdated says which statement of a story is outdated, after its replay; nil if none is. A story
// is up to date if its run violates the property that it names, or passes while the scenario has
// that property.
func outdated(path string, s *story.Story, res *run.Result) *story.Outdated {
	if stillFails(s, res.Ending) || res.Ending.Kind == result.TestFailed {
		return nil
	}
	o := &story.Outdated{File: path, Violated: s.Headline(), Now: story.Passes}
	if e := res.Ending; e.Failed() {
		first, _, _ := strings.Cut(e.Sentence(), "\n")
		o.Now = "fails otherwise: " + first
	}
	kind := result.KindOf(s.Kind)
	if s.Property == "" || kind != result.Always && kind != result.Eventually {
		kind = result.None // no scenario declares it
	}
	at := slices.IndexFunc(res.Properties, func(p run.Property) bool {
		return p.Kind == kind && p.Sentence == s.Property
	})
	switch {
	case kind != result.None && at < 0:
		o.Statement, o.Change = propertyChanged, fmt.Sprintf("the scenario has no %s %q", s.Kind, s.Property)
		for _, p := range res.Properties {
			if p.Site == s.Site && p.Kind == kind {
				o.Renamed = p.Sentence
				o.Change += fmt.Sprintf("; %s declares %s %q", p.Site, p.Kind, p.Sentence)
			}
		}
	case !res.Ending.Failed():
		return nil
	case kind != result.None && res.Properties[at].Site != s.Site:
		o.Statement, o.Change = placeChanged, fmt.Sprintf("its property is declared at %s and no longer at %s",
			res.Properties[at].Site, s.Site)
	default:
		o.Statement, o.Change = scenarioChanged, "the scenario or the program has changed"
	}
	return o
}
