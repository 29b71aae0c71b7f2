package sim

import (
	"path/filepath"

	"github.com/wavetank/wavetank/reports"
)

// picture writes the page of a failing run into the directory of -sim.report, and remembers where it is.
func (c *campaign) picture(f *Failure) {
	if c.settings.report == "" || c.shrunk[f.Property] > shrinkEach {
		return
	}
	page, err := reports.WriteRun(c.settings.report, reports.Run{Story: f.Story, File: f.File, History: f.History})
	if err != nil {
		c.settings.host.Logf("sim: the timeline could not be kept: %v", err)
		return
	}
	f.Page = page
	if abs, err := filepath.Abs(page); err == nil {
		f.Page = abs // the test's directory is not the one where go test was typed
	}
}
