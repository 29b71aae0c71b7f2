// This file tests which judge is asked, and when.

package properties

import (
	"errors"
	"testing"

	"github.com/wavetank/wavetank/history"
)

func TestJudge(t *testing.T) {
	fails := func(*history.History) error { return errors.New("judged") }
	read, paused := 0, false
	s := Set{Broken: Broken{}, Always: map[string]Judge{"a": fails, "b": nil}, Eventually: map[string]Judge{"c": fails},
		Paused: func(string) bool { return paused }}
	s.Read = func(*history.History) {
		read++
		s.Broken.Breaks("b", "broken %d", read)
	}
	for name, want := range map[string]string{"a": "judged", "b": "broken 1", "c": "judged"} {
		if err := s.Judge(name)(nil); err == nil || err.Error() != want {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
	}
	paused = true
	if err := s.Judge("a")(nil); err != nil {
		t.Errorf("it is judged while it is paused: %v", err)
	}
	if read != 4 {
		t.Errorf("the history was read %d times before 4 judgements", read)
	}
}

func TestUnknownNamesPanic(t *testing.T) {
	Set{}.Declare(nil, WorldSettles, NoPanic) // of every run
	defer func() {
		if recover() == nil {
			t.Error("a property that does not exist is declared")
		}
	}()
	Set{}.Declare(nil, "a")
}
