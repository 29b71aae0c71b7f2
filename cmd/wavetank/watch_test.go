package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/internal/story"
)

// What an earlier command has made does not count as this one's speed.
func TestTheRateIsThatOfThisCommand(t *testing.T) {
	dir := t.TempDir()
	made := func(planned, runs int) {
		r := &story.Result{Test: "TestOne", Package: "example.com/one", Planned: planned, Shards: 1, Runs: runs}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	made(0, 100)
	var out strings.Builder
	w := newWatch(&out, "one", dir)
	for _, c := range []struct {
		planned, runs int
		want          string
	}{
		{0, 600, "one: 600 runs, 8 a second,"}, // as many as time allows
		{1000, 700, "one: 700 of 1000 runs, 10 a second,"},
		{1000, 60, "one: 60 of 1000 runs, 1 a second,"}, // the results were of other code
	} {
		out.Reset()
		made(c.planned, c.runs)
		w.began, w.lastLine = time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)
		if w.show(); !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%d runs: %s", c.runs, out.String())
		}
	}
}
