package run

import (
	"testing"
)

func TestMessagesRepeat(t *testing.T) {
	got := Repeatable("Expected\n    <*v1.Pod | 0xc000123abc>: failed at /somewhere/src/a_test.go:25 with: 0x1f\n")
	if want := "Expected\n    <*v1.Pod | 0x…>: failed at a_test.go:25 with: 0x1f"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
