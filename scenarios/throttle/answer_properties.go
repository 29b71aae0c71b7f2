// This file exists for the properties about the API server's answers: what follows 404, 409, 422,
// 429 and 5xx.

package throttle

import (
	"fmt"
	"slices"

	"github.com/wavetank/wavetank/history"
)

// CalledOnce: a handler is called once for each change of an object, and once more only if what it
// asked for has failed, or if somebody has ended the operator meanwhile.
func (b *Record) CalledOnce(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		last := map[change]call{}
		for _, c := range o.calls {
			before, again := last[c.change]
			if last[c.change] = c; again && !b.excused(before, c) {
				return fmt.Errorf("the handler of %s was called again for generation %d, %v after the last time",
					o.name, c.generation, c.at-before.at)
			}
		}
	}
	return nil
}

// excused says whether a handler had to be called again.
func (b *Record) excused(before, c call) bool {
	if b.incarnations[before.incarnation-1].blameless >= before.at {
		return true
	}
	for _, l := range b.incarnations[before.incarnation-1 : c.incarnation-1] {
		if l.killed {
			return true
		}
	}
	return false
}

// NotForTheVanished: no handler is called for an object that is not there any more, and was not
// while the operator asked.
func (b *Record) NotForTheVanished(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		if i := slices.IndexFunc(o.calls, func(c call) bool { return c.late > 2*leg }); i >= 0 {
			return fmt.Errorf("the handler of %s was called for generation %d, %v after it had gone", o.name,
				o.calls[i].generation, o.calls[i].late)
		}
	}
	return nil
}

// Insists: a write that was answered with 429 or 5xx is sent again within a second, until that has
// been so three times in a row.
func (b *Record) Insists(h *history.History) error {
	b.take(h)
	const again = 2*second + leg // 429 says when, which is in a second
	for _, o := range b.order {
		row := 0
		for i, w := range o.writes {
			if !couldNot(w.code) {
				row = 0
				continue
			}
			row++
			next := slices.IndexFunc(o.writes[i+1:],
				func(n write) bool { return n.sent == w.sent && n.at <= w.heard+again })
			if row < 3 && next < 0 && h.Now() > w.heard+again {
				return fmt.Errorf("at %s a write to %s was answered with %d, and not sent again", history.Clock(w.at),
					o.name, w.code)
			}
		}
	}
	return nil
}

func couldNot(code int) bool { return code == 429 || code >= 500 }

// ConflictIsNoFailure: whoever is answered 409 looks at once at what is newest, however often that
// happens.
func (b *Record) ConflictIsNoFailure(h *history.History) error {
	b.take(h)
	for _, o := range b.order {
		for _, w := range o.writes {
			if w.code != 409 || o.gone || h.Now() <= w.heard+window+leg {
				continue
			}
			if !slices.ContainsFunc(o.reads,
				func(at history.Time) bool { return w.heard <= at && at <= w.heard+window+leg }) {
				return fmt.Errorf("at %s a write to %s was answered with 409, and %v later nobody had looked why",
					history.Clock(w.heard), o.name, window+leg)
			}
		}
	}
	return nil
}
