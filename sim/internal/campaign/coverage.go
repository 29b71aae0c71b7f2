package campaign

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/internal/callsite"
)

// readSource finds the writes in the source of the programs, if anybody is shown which of them no
// run has sent. A binary that runs without its source finds none.
func (c *campaign) readSource() {
	s, r := c.settings, &c.report
	if s.ReportDir == "" && s.Coverage == "" && !testing.Verbose() || len(r.Sites) == 0 {
		return
	}
	dir, err := os.Getwd()
	if err != nil {
		return
	}
	var reached []string
	for _, site := range r.Sites {
		reached = append(reached, site.Source)
	}
	r.Calls = callsite.Find(callsite.Root(dir), reached)
}

// printCoverage prints what was tried at which lines, and which lines were not reached.
func (c *campaign) printCoverage() {
	c.t.Helper()
	r := c.result(0)
	for _, text := range []string{reports.Sites(r), reports.Unreached(r)} {
		if text != "" {
			c.t.Logf("sim: %s", text)
		}
	}
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

// writeCoverage adds the campaign to the file of -sim.coverage.
func (c *campaign) writeCoverage() {
	if c.settings.Coverage == "" {
		return
	}
	r := c.result(0)
	coverage.Campaigns = append(coverage.Campaigns,
		covered{r.Test, r.Package, r.Runs, story.WorstFirst(r.Sites), r.Unreached()})
	data, err := json.MarshalIndent(coverage, "", "  ")
	if err == nil {
		err = atomicfile.Write(c.settings.Coverage, append(data, '\n'))
	}
	if err != nil {
		c.settings.Host.Fatalf("sim: -sim.coverage=%s: %v", c.settings.Coverage, err)
	}
}
