package campaign

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/sim/result"
)

func TestProgressSaysHowFarACampaignIs(t *testing.T) {
	report := &result.Report{Name: "TestX", Runs: 340, Faults: []result.FaultCount{{Injected: 800}, {Injected: 12}}}
	p := &progress{settings: Settings{Runs: 1000}, tally: &tally{report: report}}
	got := p.line(2 * time.Second)
	if want := "TestX: 340 of 1000 runs, 170/s, 4s left, 812 faults injected, no failure"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	report.Failure, report.Spent = &result.Failure{}, 2*time.Second
	p.settings = Settings{Budget: 10 * time.Second, Strict: true}
	got = p.line(2 * time.Second)
	if want := "TestX: 340 runs, 170/s, 8s left, 812 faults injected, shrinking a failure"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestProgressIsSilentInLogsAndWhenShort(t *testing.T) {
	var out bytes.Buffer
	counts := &tally{report: &result.Report{Name: "TestX"}}
	short := &progress{tally: counts, out: &out, began: time.Now(), last: time.Now()}
	short.show()
	short.done()
	if out.Len() > 0 {
		t.Errorf("a short campaign wrote %q", out.String())
	}
	long := &progress{tally: counts, settings: Settings{Runs: 1}, out: &out, began: time.Now().Add(-time.Minute)}
	long.show()
	long.done()
	if s := out.String(); !strings.Contains(s, "TestX: 0 of 1 runs") || !strings.HasSuffix(s, "\r\x1b[K") {
		t.Errorf("a long campaign wrote %q", s)
	}
	(&progress{tally: counts, began: time.Now().Add(-time.Minute)}).show() // no terminal
}
