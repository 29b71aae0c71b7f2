package reports

import (
	"html/template"
	"path"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
)

// Card is one story on a page of many.
type Card struct {
	Title, Kind, Property, Message, Replay, Length string
	Faults                                         []string
	Thumb                                          template.HTML
	Page, Beside, File                             string // links; "" for none
	Thread, ThreadURL                              string
	Class                                          *PageLink // of bugs; nil if it is not known
}

// NewCard is the card of a story, without links.
func NewCard(s *story.Story) Card {
	return Card{
		Title: strings.ReplaceAll(s.Test, "_", " "), Kind: s.Kind, Property: s.Property, Message: s.Message,
		Replay: s.Replay, Length: s.After.Words(), Faults: FaultNames(s),
		Thumb: thumbnailOf(s.History),
	}
}

// HTML is the card as a page has it.
func (c Card) HTML() (template.HTML, error) { return fill("card", c) }

// FaultNames are the classes of the faults that a story needs; "no fault" if there is none.
func FaultNames(s *story.Story) []string {
	if classes := s.FaultClasses(); len(classes) > 0 {
		return classes
	}
	return []string{"no fault"}
}

// PageLink is a name with an address.
type PageLink struct{ Name, Page string }

// shortLine is a line of the program with the last folder of its path.
func shortLine(line string) string {
	if line == "" {
		return ""
	}
	dir, file := path.Split(line)
	return path.Join(path.Base(dir), file)
}
