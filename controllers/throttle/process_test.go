// This file is about what the operator writes down: under legal names, with the handlers' own
// delays, on the schedule.

package throttle

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestALegalKeyIsLegalAndItsOwn(t *testing.T) {
	base := strings.Repeat("provision_", 8)
	seen := map[string]string{}
	for _, id := range []string{"a", "fn/spec.field", base, base + "x", base + "y", "ends_in_", "über/" + base,
		strings.Repeat("-", 80)} {
		key := legalKey(id)
		if bad := validation.IsQualifiedName(key); len(bad) > 0 {
			t.Errorf("%q becomes %q: %v", id, key, bad)
		}
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q share %q", id, other, key)
		}
		seen[key] = id
	}
	if key := legalKey("provision"); key != plainKey("provision") {
		t.Errorf("a name that is legal becomes %q", key)
	}
	if len(validation.IsQualifiedName(plainKey(base))) == 0 {
		t.Error("the long name is legal as it is: this test shows nothing")
	}
}

func TestARecordKeepsToTheHandlersDelay(t *testing.T) {
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		handler Handler
		errs    []error
		success bool
		waits   time.Duration
	}{
		"success":              {Handler{}, []error{nil}, true, 0},
		"an error":             {Handler{}, []error{failed}, false, time.Minute},
		"its own delay":        {Handler{Retry: time.Hour}, []error{failed}, false, time.Hour},
		"better the last time": {Handler{}, []error{failed, nil}, true, 0},
	} {
		r := &Record{}
		for _, err := range c.errs {
			r.take(&c.handler, "result", err)
		}
		waits := max(0, time.Until(r.Delayed))
		if r.Success != c.success || waits > c.waits || waits < c.waits-time.Second {
			t.Errorf("%s: %+v, which waits %v", name, r, waits)
		}
	}
}

func TestTheScheduleIsTheOriginals(t *testing.T) {
	var all time.Duration
	for i := range 15 {
		all += delay(i)
	}
	if all != 1596*time.Second || delay(15) != 610*time.Second || delay(99) != 610*time.Second {
		t.Errorf("15 delays are %v, the next %v", all, delay(15))
	}
}
