// This file tests that messages are cut where they may be.

package release

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMessagesAreCutBetweenCharacters(t *testing.T) {
	long := strings.Repeat("a", maxMessage)
	for _, s := range []string{"", "short", long, long + "a", "a" + strings.Repeat("é", maxMessage)} {
		got := Said(s)
		fits := len(got) <= maxMessage && len(got) >= min(len(s), maxMessage-1)
		if !fits || !utf8.ValidString(got) || !strings.HasPrefix(s, got) {
			t.Errorf("of %d bytes %d are left, valid: %t", len(s), len(got), utf8.ValidString(got))
		}
	}
}
