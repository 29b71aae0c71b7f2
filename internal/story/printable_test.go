package story

import (
	"strings"
	"testing"
)

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain, → and …\n\ttoo":     "plain, → and …\n\ttoo",
		"\x1b[31mred\x07\r\x7f":     `\x1b[31mred\x07\x0d\x7f`,
		"\u009b2J":                  `\u009b2J`,
		"\x9b2J":                    `\x9b2J`,
		"a\u202eb":                  `a\u202eb`,
		"a family: 👩\u200d👧\u200d👦": "a family: 👩\u200d👧\u200d👦",
		"\ufffd is allowed":         "\ufffd is allowed",
	} {
		if got := Printable(text); got != want {
			t.Errorf("Printable(%q) is %q; expected %q", text, got, want)
		}
	}
}

// What a file says is read without escape codes. The labels of choices are kept, as a replay
// compares them.
func TestDecodedStoriesArePrintable(t *testing.T) {
	const evil = "\x1b]0;owned\x07"
	s := Story{Test: "TestX" + evil, Package: evil, Kind: "always" + evil, Property: "p" + evil, Site: evil,
		Message: evil, Seed: evil, Replay: evil, Versions: map[string]string{"go": evil}, History: []string{"a", evil},
		Choices: []Choice{{ID{Label{Kind: Arm, Of: evil}, 0}, 1}}}
	got, err := Decode(s.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if got.Choices[0] != s.Choices[0] {
		t.Errorf("the choice is %+v; expected %+v", got.Choices, s.Choices)
	}
	got.Choices = nil
	data := string(got.Encode())
	if strings.ContainsAny(data, "\x1b\x07") || strings.Count(data, `\x1b]0;owned\x07`) < 9 {
		t.Errorf("the story still has control characters:\n%q", data)
	}
	if !strings.HasSuffix(got.Headline(), `\x07"`) {
		t.Errorf("the headline is %q", got.Headline())
	}
}
