package choice

import (
	"fmt"
	"testing"
	"time"
)

func TestAReplayedTapeGivesTheSameAnswers(t *testing.T) {
	ask := func(s *Source) []Answer {
		for i := range 200 {
			s.Rarely(fmt.Sprintf("fault %d", i%7), 3, 4)
			s.Choose("next", 1+i%5)
		}
		return s.Log()
	}
	first := New(NewRandom(42))
	want := ask(first)
	second := New(Play(first.Tape()))
	got := ask(second)
	for i := range want {
		if fmt.Sprint(want[i]) != fmt.Sprint(got[i]) {
			t.Fatalf("answer %d was %+v and is %+v", i, want[i], got[i])
		}
	}
}

func TestAPlayerNamesWhatWasNotAskedFor(t *testing.T) {
	p := Play(Tape{{"a #1", 1}, {"b #1", 1}, {"a #2", 1}})
	s := New(p)
	s.Choose("a", 2)
	if got := fmt.Sprint(p.Unused()); got != "[{b #1 1} {a #2 1}]" {
		t.Errorf("unused: %s", got)
	}
}

// The failure needs two strikes and a delay of at least 5; everything else must go.
func TestShrinkIsLocalMinimal(t *testing.T) {
	var tape Tape
	for i := range 300 {
		tape = append(tape, Entry{fmt.Sprintf("next #%d", i+1), 1 + i%3}, Entry{fmt.Sprintf("lag #%d", i+1), 1 + i%9})
	}
	tape = append(tape, Entry{"crash #3", 1}, Entry{"crash #9", 1})
	breaks := func(c Tape) bool {
		m := map[string]int{}
		for _, e := range c {
			m[e.ID] = e.Value
		}
		return m["crash #3"] > 0 && m["crash #9"] > 0 && m["lag #8"] >= 5
	}
	got, runs := Shrink(tape, time.Minute, func(c Tape) (Tape, bool) { return c, breaks(c) })
	if fmt.Sprint(got) != "[{lag #8 5} {crash #3 1} {crash #9 1}]" {
		t.Errorf("shrunk to %v", got)
	}
	for i := range got {
		if without := append(append(Tape(nil), got[:i]...), got[i+1:]...); breaks(without) {
			t.Errorf("still breaks without %v", got[i])
		}
	}
	if runs > 1500 {
		t.Errorf("took %d runs", runs)
	}
}
