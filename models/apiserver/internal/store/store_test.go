package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// state is a table in its simplest form: what it held after each revision.
type state map[string]int

// Whatever is committed, trimmed and compacted, tables answer as a list of all states would.
func TestTablesAgreeWithAListOfStates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New[int](1)
		table := s.Table("t")
		states := map[int64]state{1: {}}
		key := rapid.Custom(func(t *rapid.T) string {
			namespace := rapid.SampledFrom([]string{"a/", "b/", ""}).Draw(t, "namespace")
			return namespace + fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "name"))
		})
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				k, v := key.Draw(t, "key"), rapid.Int().Draw(t, "value")
				before, had := table.Get(k)
				e := s.Commit(table, k, false, func(int64) int { return v })
				next := maps.Clone(states[s.Revision()-1])
				next[k] = v
				states[s.Revision()] = next
				if had != (e.Op == Modified) || e.Previous != before || e.Revision != s.Revision() {
					t.Fatalf("the event is %+v; there was %d (%v)", e, before, had)
				}
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				if _, there := table.Get(k); !there {
					t.Skip("nothing to remove")
				}
				s.Commit(table, k, true, func(int64) int { return 0 })
				next := maps.Clone(states[s.Revision()-1])
				delete(next, k)
				states[s.Revision()] = next
			},
			"trim":    func(t *rapid.T) { s.Trim(rapid.Int64Range(0, s.Revision()+3).Draw(t, "revision")) },
			"compact": func(t *rapid.T) { s.Compact(rapid.Int64Range(0, s.Revision()+3).Draw(t, "revision")) },
			"": func(t *rapid.T) {
				if s.Compacted() > s.Trimmed() || s.Trimmed() > s.Revision() {
					t.Fatalf("marks %d, %d, revision %d", s.Compacted(), s.Trimmed(), s.Revision())
				}
				prefix := rapid.SampledFrom([]string{"", "a/", "b/1", "zz"}).Draw(t, "prefix")
				after := key.Draw(t, "after")
				at := rapid.Int64Range(max(s.Trimmed(), 1), s.Revision()).Draw(t, "at")
				var got []string
				for _, item := range table.At(at, prefix, after) {
					got = append(got, fmt.Sprint(item.Key, "=", item.Value))
				}
				if want := states[at].list(prefix, after); !slices.Equal(got, want) {
					t.Fatalf("at %d it held %v, not %v", at, want, got)
				}
				got = nil
				for k, v := range table.Range(prefix, after) {
					got = append(got, fmt.Sprint(k, "=", v))
				}
				now := states[s.Revision()]
				if want := now.list(prefix, after); !slices.Equal(got, want) || table.Len() != len(now) {
					t.Fatalf("it holds %v, not %v", want, got)
				}
			},
		})
	})
}

func (s state) list(prefix, after string) (out []string) {
	for _, k := range slices.Sorted(maps.Keys(s)) {
		if strings.HasPrefix(k, prefix) && k > after {
			out = append(out, fmt.Sprint(k, "=", s[k]))
		}
	}
	return out
}

// Many keys are kept in order, in chunks, whatever comes and goes.
func TestManyKeysStayInOrder(t *testing.T) {
	var k keys
	const n = 5 * chunkSize
	for i := range n {
		k.insert(fmt.Sprintf("%06d", i*7919%n))
		k.insert(fmt.Sprintf("%06d", i*7919%n)) // twice is once
	}
	for i := 0; i < n; i += 3 {
		k.remove(fmt.Sprintf("%06d", i))
		k.remove("not there")
	}
	var got []string
	k.ascend("", "", func(key string) bool { got = append(got, key); return true })
	if !slices.IsSorted(got) || len(got) != n-(n+2)/3 {
		t.Errorf("%d keys, sorted: %v", len(got), slices.IsSorted(got))
	}
	k.ascend("0000", "000005", func(key string) bool { got = got[:1]; got[0] = key; return false })
	if got[0] != "000007" {
		t.Errorf("after 000005 comes %s", got[0])
	}
}

// A reader that follows a table learns what was forgotten.
func TestPositionsOfWhoFollows(t *testing.T) {
	s := New[int](1)
	a, b := s.Table("a"), s.Table("b")
	for i := range 4 {
		s.Commit(a, fmt.Sprintf("ns%d/x", i%2), false, func(int64) int { return i })
		s.Commit(b, "y", false, func(int64) int { return i })
	}
	from := a.After(5) // two changes of a are later
	if e, lost := a.Event(from); lost || e.Revision != 6 || a.End()-from != 2 {
		t.Errorf("%+v, %v, %d to go", e, lost, a.End()-from)
	}
	s.Trim(6)
	if e, lost := a.Event(from); !lost || e != nil || a.First() != 3 {
		t.Errorf("%+v, %v, the first is %d", e, lost, a.First())
	}
	if e, lost := a.Event(a.End()); lost || e != nil {
		t.Errorf("at the end: %+v, %v", e, lost)
	}
	if !a.Lost("", 5) || a.Lost("", 6) || !a.Lost("ns0/", 5) || a.Lost("ns1/", 4) || a.Lost("ns7/", 0) {
		t.Error("what is lost of which namespace is wrong")
	}
	if len(s.History(6)) != 3 {
		t.Errorf("%d changes are later than 6", len(s.History(6)))
	}
	defer func() {
		if recover() == nil {
			t.Error("what is not there was removed")
		}
	}()
	s.Commit(a, "nobody", true, func(int64) int { return 0 })
}
