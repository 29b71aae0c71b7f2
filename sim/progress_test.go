package sim

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressSaysHowFarACampaignIs(t *testing.T) {
	r := &Report{Name: "TestX", Runs: 340, Faults: []FaultCount{{Injected: 800}, {Injected: 12}}}
	got := progressLine(r, settings{runs: 1000}, 2*time.Second)
	if want := "TestX: 340 of 1000 runs, 170/s, 4s left, 812 faults injected, no failure"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	r.Failure, r.Spent = &Failure{}, 2*time.Second
	got = progressLine(r, settings{budget: 10 * time.Second, strict: true}, 2*time.Second)
	if want := "TestX: 340 runs, 170/s, 8s left, 812 faults injected, shrinking a failure"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestProgressIsSilentInLogsAndWhenShort(t *testing.T) {
	var out bytes.Buffer
	short := &progress{out: &out, began: time.Now(), last: time.Now()}
	short.show(&Report{Name: "TestX"}, settings{})
	short.done()
	if out.Len() > 0 {
		t.Errorf("a short campaign wrote %q", out.String())
	}
	long := &progress{out: &out, began: time.Now().Add(-time.Minute)}
	long.show(&Report{Name: "TestX"}, settings{runs: 1})
	long.done()
	if s := out.String(); !strings.Contains(s, "TestX: 0 of 1 runs") || !strings.HasSuffix(s, "\r\x1b[K") {
		t.Errorf("a long campaign wrote %q", s)
	}
	(&progress{began: time.Now().Add(-time.Minute)}).show(&Report{}, settings{}) // nobody watches
}
