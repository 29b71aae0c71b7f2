package story

import (
	"fmt"
	"slices"
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
			slices.Concat(apart[:6], []string{"… 4 lines left out; the story has them all …"}, apart[10:])},
		"to an end": {often, append(round(1), "00:30.002    … these 2 lines 29 times more")},
	} {
		if d := cmp.Diff(c.want, (&Story{History: c.lines}).Excerpt()); d != "" {
			t.Errorf("%s (-want +got)\n%s", name, d)
		}
	}
}
