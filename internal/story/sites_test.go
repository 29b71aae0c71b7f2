package story

import (
	"slices"
	"strings"
	"testing"
)

func sites() []SiteTotal {
	create := CallSite{"a/b.go:5", "create", "Pod"}
	list := CallSite{"a/b.go:9", "list", "Pod"}
	return AddSites([]SiteTotal{
		{create, 3, []Strike{{"Crash after", 3, 1}, {StaleReads, 3, 0}}},
	}, []SiteTotal{
		{list, 7, []Strike{{"ServerError not applied", 7, 0}}},
		{create, 1, []Strike{{"Crash before", 1, 0}, {"Crash after", 1, 1}, {StaleReads, 1, 0}}},
	})
}

// Counts of one line add up, and the line with the most faults that were never injected is first.
func TestSitesAddUp(t *testing.T) {
	all := WorstFirst(sites())
	if len(all) != 2 || all[0].Sent != 4 || all[0].Blank() != 2 || all[1].Blank() != 1 {
		t.Fatalf("added up are %+v", all)
	}
	if s := all[0].At("Crash after"); s == nil || *s != (Strike{"Crash after", 4, 2}) {
		t.Errorf("crashes after it are %+v", s)
	}
	if s := all[1].At("Crash after"); s != nil {
		t.Errorf("a list has an opportunity for a crash: %+v", s)
	}
	want := []string{"Crash before", "Crash after", "ServerError not applied", StaleReads}
	if got := Columns(all); !slices.Equal(got, want) {
		t.Errorf("the columns are %q, expected %q", got, want)
	}
}

// Functions of which no write was sent come first. What one shard has sent is reached.
func TestUnreached(t *testing.T) {
	call := func(function, source string, end int) SourceCall {
		return SourceCall{Controller: "R", Function: function, Declared: "a/b.go:" + function, Source: source, End: end}
	}
	calls := []SourceCall{call("1", "a/b.go:4", 6), call("1", "a/b.go:8", 8), call("20", "a/b.go:21", 21),
		call("30", "a/b.go:31", 31), call("30", "a/b.go:32", 32)}
	r := &Result{Test: "T", Shards: 2, Calls: calls, Sites: []SiteTotal{{CallSite: CallSite{Source: "a/b.go:5"}}}}
	other := &Result{Test: "T", Shards: 2, Shard: 1, Calls: calls}
	m, err := Merge([]*Result{other, r})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, u := range m.Unreached() {
		got = append(got, u.Sentence())
	}
	want := []string{"a/b.go:30 30 sent none of its 2 writes (lines 31, 32)",
		"a/b.go:20 20 never sent its write (line 21)",
		"a/b.go:1 1 never sent 1 of its 2 writes (line 8)"}
	if !slices.Equal(got, want) {
		t.Errorf("unreached are\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
