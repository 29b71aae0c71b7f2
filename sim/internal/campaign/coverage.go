package campaign

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/callsite"
)

// unsent finds the writes in the source of the programs, if anybody is shown which of them no run
// has sent. A binary that runs without its source finds none.
func (s Settings) unsent(sites []story.SiteTotal) []story.SourceCall {
	if s.ReportDir == "" && s.Coverage == "" && !testing.Verbose() || len(sites) == 0 {
		return nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil
	}
	var reached []string
	for _, site := range sites {
		reached = append(reached, site.Source)
	}
	return callsite.Find(callsite.Root(dir), reached)
}

// covered is one campaign in the file of -sim.coverage.
type covered struct {
	Test      string            `json:"test"`
	Package   string            `json:"package"`
	Runs      int               `json:"runs"`
	Sites     []story.SiteTotal `json:"sites"`
	Unreached []story.Unreached `json:"unreached"`
}

// coverage are the campaigns of this process, as the file of -sim.coverage has them.
var coverage struct {
	Campaigns []covered `json:"campaigns"`
}

// writeCoverage adds a campaign to the file of -sim.coverage.
func (s Settings) writeCoverage(r *story.Result) {
	coverage.Campaigns = append(coverage.Campaigns,
		covered{r.Test, r.Package, r.Runs, story.WorstFirst(r.Sites), r.Unreached()})
	data, err := json.MarshalIndent(coverage, "", "  ")
	if err == nil {
		err = atomicfile.Write(s.Coverage, append(data, '\n'))
	}
	if err != nil {
		s.Host.Fatalf("sim: -sim.coverage=%s: %v", s.Coverage, err)
	}
}
