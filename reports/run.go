package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/story"
)

// Run is one run as pages and texts show it. In a file it is JSON, {"story": …, "file": …,
// "history": …}, with the text of the story's file and the JSON form of the history. The story
// alone has no bodies.
type Run struct {
	// Story is the violation; nil for a run in which every property held.
	Story *story.Story
	// Name is what was run if there is no story.
	Name string
	// File is the path of the story's file for readers; "" if there is none.
	File    string
	History *history.History
}

type recording struct {
	Name    string           `json:"name,omitempty"`
	Story   string           `json:"story,omitempty"`
	File    string           `json:"file,omitempty"`
	History *history.History `json:"history"`
}

// MarshalJSON implements [json.Marshaler].
func (r Run) MarshalJSON() ([]byte, error) {
	out := recording{Name: r.Name, File: r.File, History: r.History}
	if r.Story != nil {
		out.Story = string(r.Story.Encode())
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Run) UnmarshalJSON(data []byte) error {
	var in recording
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.History == nil {
		return errors.New("the run has no history")
	}
	*r = Run{Name: in.Name, File: in.File, History: in.History}
	if in.Story == "" {
		return nil
	}
	var err error
	r.Story, err = story.Decode([]byte(in.Story))
	return err
}

// RunSuffix ends the names of files that hold a run.
const RunSuffix = ".run.json"

// ReadRun reads a run from a file.
func ReadRun(path string) (*Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s is not a run: %w", path, err)
	}
	return r, nil
}

func (r Run) base() string {
	if r.File != "" {
		return strings.TrimSuffix(filepath.Base(r.File), ".txtar")
	}
	if r.Story != nil {
		return strings.TrimSuffix(r.Story.Name(), ".txtar")
	}
	return story.PathPart(r.Name)
}

func (r Run) title() string {
	if r.Story != nil {
		return r.Story.Test
	}
	return r.Name
}

// head is the text above the story of a run, for readers without script: what was violated, and how
// to replay it.
func (r Run) head() (lines []string) {
	if s := r.Story; s != nil {
		lines = append(lines, s.Headline())
		if s.Property != "" {
			lines = append(lines, s.Message)
		}
		lines = append(lines, "replay: "+s.Replay, "")
	}
	return lines
}

// broke says which property a story violates, and where it is declared.
func broke(s *story.Story) string {
	what := s.Headline()
	if s.Property != "" {
		what += " broke"
	}
	if s.Site != "" {
		what += " (" + s.Site + ")"
	}
	return what
}
