package story

import (
	"slices"
	"testing"
)

// A paragraph ends with what was measured. If nothing was, it names the faults and delays.
func TestParagraphNamesWhatWasNotMeasured(t *testing.T) {
	s := &Story{
		Why:     []string{"The last step was a crash."},
		History: []string{"00:01.006    mailer/1         fault: Crash(mailer): after POST office.example/mail/b"},
		Choices: []Choice{
			{ID: ID{Label: Label{
				Kind: Inject, Of: "StaleCache(30s)", Who: "mailer", Verb: "ADDED", What: "Secret default/a",
			}}},
		},
	}
	s.Choices = append(s.Choices, Choice{ID: ID{Label: Label{Kind: Reply, Who: "mailer", Verb: "list",
		What: "Secret  in prod.example"}}})
	want := []string{"The last step was a crash.", "Faults: Crash(mailer): after POST office.example/mail/b at " +
		"00:01.006, mailer/1; StaleCache(30s) delays the event ADDED Secret default/a to mailer.",
		"Delayed: the reply to list Secret in prod.example of mailer."}
	if got := s.Paragraph(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	s.Measured = []string{"It was decided then."}
	if got := s.Paragraph(); !slices.Equal(got, []string{"The last step was a crash.", "It was decided then."}) {
		t.Errorf("%q", got)
	}
}

func TestSharesThatCannotBe(t *testing.T) {
	for _, bad := range []string{"1", "1 2", "1 21/20", "-1 0/20", "x 0/20"} {
		if got, err := decodeShares(bad + "\n"); err == nil {
			t.Errorf("%q is read as %v", bad, got)
		}
	}
}
