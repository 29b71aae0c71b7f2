package property_test

import (
	"errors"
	"testing"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/property"
)

func TestNewReadsEachEventOnceInEachRun(t *testing.T) {
	broken := errors.New("the third event")
	p := property.New(func() func(*history.History, *history.Event) error {
		read := 0
		return func(*history.History, *history.Event) error {
			if read++; read == 3 {
				return broken
			}
			return nil
		}
	})
	for range 2 { // runs
		h := &history.History{}
		for i, want := range []error{nil, nil, broken, broken} {
			h.Add(history.Event{Kind: history.Request})
			for range 2 { // judgements
				if got := p(h); got != want { //nolint:errorlint // the very error
					t.Errorf("after event %d the property reports %v; expected %v", i+1, got, want)
				}
			}
		}
	}
}
