package story

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnExcerptShowsWhatGoesRoundOnce(t *testing.T) {
	round := func(i int) []string {
		return []string{fmt.Sprintf("00:%02d.001    op/1             reconciles app #%d", i, i),
			fmt.Sprintf("00:%02d.002    op/1               update App a → rv %d", i, i+7)}
	}
	first, last := "00:00.001    user             create App a → rv 6", "00:59.000                     the world "+
		"has settled"
	var twice, often []string
	for i := 1; i <= 30; i++ {
		often = append(often, round(i)...)
		if i <= 2 {
			twice = append(twice, round(i)...)
		}
	}
	var apart []string // forty-four lines of which none is like another
	for i := range 44 {
		apart = append(apart, fmt.Sprintf("00:00.001    user             create App a%d → rv 6", i))
	}
	for name, c := range map[string]struct{ lines, want []string }{
		"nothing": {nil, nil},
		"twice":   {twice, twice},
		"often": {slices.Concat([]string{first}, often, []string{last}),
			slices.Concat([]string{first}, round(1), []string{"00:30.002    … these 2 lines 29 times more", last})},
		"one line": {slices.Repeat([]string{first}, 5), []string{first, "00:00.001    … this 4 times more"}},
		"others":   {apart[:40], apart[:40]},
		"too many": {apart,
			slices.Concat(apart[:6], []string{"… 5 lines left out …"}, apart[11:])},
		"to an end": {often, append(round(1), "00:30.002    … these 2 lines 29 times more")},
	} {
		if d := cmp.Diff(c.want, (&Story{History: c.lines}).Excerpt(MaxLines)); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}

func TestAnExcerptHasTheLinesThatLedToIt(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("00:00.001    user             create App a%d → rv 6", i))
	}
	got := (&Story{History: lines, Led: led(3, 5, 12)}).Excerpt(MaxLines)
	want := slices.Concat([]string{"… 3 lines left out …"}, lines[3:6],
		[]string{"… 6 lines …", lines[12], "… 13 lines …"}, lines[26:])
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if d := cmp.Diff(lines[:16], (&Story{History: lines[:16], Led: led(3)}).Excerpt(MaxLines)); d != "" {
		t.Errorf("a short story is not shown whole (-want +got)\n%s", d)
	}
}

// A short story has all lines but those of idle reconciles of other objects. An abridged one still
// knows them.
func TestAnExcerptLeavesIdleReconcilesOut(t *testing.T) {
	var lines []string
	for i := range 9 {
		lines = append(lines, fmt.Sprintf("00:00.001    user             create App a%d → rv 6", i))
	}
	s := &Story{History: lines, Idle: []int{3, 4}}
	want := slices.Concat(lines[:3], []string{"… 2 lines left out …"}, lines[5:])
	if d := cmp.Diff(want, s.Excerpt(MaxLines)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	s = &Story{History: lines, Idle: []int{7, 8}, Led: led(5, 6, 7)}
	s.Abridge(7)
	if !slices.Equal(s.Idle, []int{3, 4}) {
		t.Errorf("%v of\n%s", s.Idle, strings.Join(s.History, "\n"))
	}
}

func led(lines ...int) (out []Led) {
	for _, n := range lines {
		out = append(out, Led{Line: n})
	}
	return out
}

// A note is beneath its line, in short and in long stories, and once in what repeats.
func TestExcerptHasNotes(t *testing.T) {
	var lines []string
	for i := range 30 {
		lines = append(lines, fmt.Sprintf("00:00.001    user             create App a%d → rv 6", i))
	}
	note := Led{Line: 7, Notes: []string{"its cache lacked App a3"}}
	want := strings.Repeat(" ", 34) + "its cache lacked App a3"
	got := (&Story{History: lines, Led: []Led{note}}).Excerpt(MaxLines)
	if got[1] != lines[7] || got[2] != want {
		t.Errorf("a long story: %q", got)
	}
	if got := (&Story{History: lines[:9], Led: []Led{note}}).Excerpt(MaxLines); got[8] != want {
		t.Errorf("a short story: %q", got)
	}
}

// What repeats says how each round ended.
func TestExcerptSaysHowRoundsEnd(t *testing.T) {
	var lines []string
	for i := range 12 {
		lines = append(lines, fmt.Sprintf("00:%02d.001    op/1             reconciles app #%d", i, i),
			fmt.Sprintf("00:%02d.002    op/1               ends: error: no quota", i))
	}
	got := (&Story{History: lines}).Excerpt(MaxLines)
	want := "00:11.002    … these 2 lines 11 times more, each ends: error: no quota"
	if len(got) != 3 || got[2] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAStorySaysWhatItDoesNotNeed(t *testing.T) {
	for want, kinds := range map[string][]Kind{
		"needs no fault, no delay and no other order: it fails on the default schedule": nil,

		"needs no fault and no delay, only an order of actions": {Next},
		"needs no fault, only delays":                           {Handler},
		"needs no fault, only delays and an order of actions":   {Step, Next},
		"needs no fault and no delay":                           {Draw},
		"":                                                      {Arm, Inject},
	} {
		var s Story
		for _, kind := range kinds {
			s.Choices = append(s.Choices, Choice{ID: ID{Label: Label{Kind: kind}}})
		}
		if got := s.Needs(); got != want {
			t.Errorf("%v: %q, want %q", kinds, got, want)
		}
	}
}

// A delay of a request or a reply has no line in the history, so it gets one of its own.
func TestDelaysNamesWhatOnlyDelays(t *testing.T) {
	delayed := func(kind Kind, who, what string) Choice {
		return Choice{ID: ID{Label: Label{Kind: kind, Who: who, Verb: "get", What: what}}}
	}
	s := &Story{Choices: []Choice{delayed(Reply, "records", "Secret default/record-a"),
		delayed(Request, "records", "Secret default/record-a"), {ID: ID{Label: Label{Kind: Next}}}}}
	want := []string{"delay: the reply to get Secret default/record-a of records",
		"delay: the request get Secret default/record-a of records"}
	if got := s.Delays(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	event := func(who string) Choice {
		return Choice{
			ID: ID{Label: Label{Kind: Inject, Of: "StaleCache(30s)", Who: who, Verb: "MODIFIED", What: "Pod a"}},
		}
	}
	stale := &Story{Choices: []Choice{event("op"), event("op"), event("past a wait of op")}, After: Length{Faults: 5},
		History: []string{"00:01.000    op/1             fault: StaleCache(30s): outlasts the wait for its Pod a"}}
	want = []string{"fault: StaleCache(30s) delays the event MODIFIED Pod a to op, 2 times"}
	if got := stale.Delays(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if n := stale.Unshown(stale.History); n != 2 {
		t.Errorf("of 5 faults, 3 have lines, and %d have none", n)
	}
	for i := range 20 {
		s.Choices = append(s.Choices, delayed(Request, "op", fmt.Sprint("Pod ", i)))
	}
	if got := s.Delays(); len(got) != 13 || got[12] != "delay: 10 more" {
		t.Errorf("%q", got)
	}
}

// A message and a stored story show the same lines of a long history.
func TestAbridgeAndExcerptChooseTheSameLines(t *testing.T) {
	long := func() *Story {
		s := &Story{}
		for i := range 300 {
			s.History = append(s.History, fmt.Sprintf("00:%03d.000 op/1 does thing-%d-%d", i, i, i*i))
		}
		for rank := range 60 {
			s.Led = append(s.Led, Led{Line: (rank * 37) % 300, Rank: rank})
		}
		return s
	}
	lines := func(all []string) []string {
		return slices.DeleteFunc(all, func(l string) bool { return strings.HasPrefix(l, "…") })
	}
	abridged := long()
	abridged.Abridge(MaxLines)
	excerpt := long().Excerpt(MaxLines)
	if len(abridged.History) > MaxLines || len(abridged.History) < MaxLines-4 || len(excerpt) != len(abridged.History) {
		t.Errorf("%d and %d lines", len(abridged.History), len(excerpt))
	}
	if diff := cmp.Diff(lines(excerpt), lines(abridged.History)); diff != "" {
		t.Error(diff)
	}
}
