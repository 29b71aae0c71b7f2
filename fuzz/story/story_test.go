// Package story fuzzes the reader of story files.
package story

import (
	"bytes"
	"testing"

	"github.com/wavetank/wavetank/internal/story"
)

// FuzzStory feeds the story reader with any bytes: it must answer with a story or an error, and
// what it reads it must write so that it reads the same again.
func FuzzStory(f *testing.F) {
	example := &story.Story{Test: "TestX", Kind: "always", Property: "p", Versions: map[string]string{"go": "go1.26"},
		Choices: []story.Choice{{ID: story.ID{Label: story.Label{Kind: story.Inject, Of: "Crash(op)", Who: "before op",
			Verb: "get", What: "Pod"}}, Value: 1}},
		History: []string{"00:00.000 start"}}
	f.Add(example.Encode())
	f.Add([]byte("wavetank story, format 2\ntest: T\n-- choices --\n1 next #1\n"))
	f.Add([]byte("go test fuzz v1\nint(3)\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := story.Decode(data)
		if err != nil {
			return
		}
		once := s.Encode()
		again, err := story.Decode(once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, once)
		}
		if twice := again.Encode(); !bytes.Equal(once, twice) {
			t.Fatalf("written once:\n%s\nwritten again:\n%s", once, twice)
		}
	})
}
