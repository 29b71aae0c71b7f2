package history_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/wavetank/wavetank/history"
)

func TestDateIsTheTimeInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, since := range []history.Time{0, time.Hour} {
			if date := history.Date(since); !date.Equal(time.Now()) {
				t.Errorf("%v, not %v", date, time.Now())
			}
			time.Sleep(time.Hour)
		}
	})
}
