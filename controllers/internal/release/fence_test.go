// This file tests what the fence keeps back, and what it lets through.

package release

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

type body struct{ closed bool }

func (b *body) Read([]byte) (int, error) { return 0, io.EOF }
func (b *body) Close() error             { b.closed = true; return nil }

type reached struct{}

func (reached) Error() string                                   { return "it was sent" }
func (reached) RoundTrip(*http.Request) (*http.Response, error) { return nil, reached{} }

func TestTheFenceKeepsBackLateWrites(t *testing.T) {
	over, ahead := time.Now().Add(-time.Second), time.Now().Add(time.Hour)
	for _, c := range []struct {
		method string
		until  time.Time
		want   error
	}{{"PUT", over, ErrTooLate}, {"PUT", ahead, reached{}}, {"GET", over, reached{}}, {"PUT", time.Time{}, reached{}}} {
		b := &body{}
		r, err := http.NewRequestWithContext(t.Context(), c.method, "http://server", b)
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&carrier{reached{}, t.Context(), c.until}).RoundTrip(r) //nolint:bodyclose // there is no answer
		if !errors.Is(err, c.want) {
			t.Errorf("%s until %v: %v, want %v", c.method, c.until, err, c.want)
		}
		if late := c.want == ErrTooLate; b.closed != late {
			t.Errorf("%s until %v: its body is closed: %t, want %t", c.method, c.until, b.closed, late)
		}
	}
}
