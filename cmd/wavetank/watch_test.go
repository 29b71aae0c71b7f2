package main

import (
	"strings"
	"testing"
	"time"

	"github.com/wavetank/wavetank/story"
)

// What an earlier command has made does not count as this one's speed.
func TestTheRateIsThatOfThisCommand(t *testing.T) {
	dir := t.TempDir()
	made := func(runs int) {
		r := &story.Result{Test: "TestOne", Package: "example.com/one", Planned: 1000, Shards: 1, Runs: runs}
		if err := r.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	made(100)
	var out strings.Builder
	w := newWatch(&out, "one", dir)
	for _, c := range []struct {
		runs int
		want string
	}{
		{700, "one: 700 of 1000 runs, 10 a second,"},
		{60, "one: 60 of 1000 runs, 1 a second,"}, // the results were of other code
	} {
		out.Reset()
		made(c.runs)
		w.began, w.lastLine = time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)
		if w.show(); !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%d runs: %s", c.runs, out.String())
		}
	}
}
