package campaign

import (
	"path/filepath"

	"github.com/wavetank/wavetank/reports"
	"github.com/wavetank/wavetank/sim/result"
)

// writePage writes the page of a failing run into the directory of -sim.report, and remembers where
// it is.
func (c *campaign) writePage(f *result.Failure) {
	if c.settings.ReportDir == "" || c.shrunk[f.Property] > shrinkEach {
		return
	}
	page, err := reports.WriteRun(c.settings.ReportDir, reports.Run{Story: f.Story, File: f.File, History: f.History})
	if err != nil {
		c.settings.Host.Logf("sim: the timeline could not be kept: %v", err)
		return
	}
	f.Page = page
	if abs, err := filepath.Abs(page); err == nil {
		f.Page = abs // the test's directory is not the one where go test was typed
	}
}
