// Package causes compares failure messages with files that say what the cause is.
package causes

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Part is a part of a cause: an expression that a line of the message matches, and a sentence of
// its paragraph.
type Part struct {
	*regexp.Regexp
	// Hidden parts are known to be in no line, and Unnamed ones in no sentence.
	Hidden, Unnamed bool
}

// Read returns the parts of the causes in a file, by the names of what they cause. A line is a
// name, or an expression after a tab, or a comment after "#". "?" before an expression says that no
// sentence of the paragraph matches it, and "!" that no line does.
func Read(path string) (map[string][]Part, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out, name := map[string][]Part{}, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		expression, ok := strings.CutPrefix(line, "\t")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case !ok:
			name = line
		default:
			p := Part{}
			if expression, p.Hidden = strings.CutPrefix(expression, "!"); !p.Hidden {
				expression, p.Unnamed = strings.CutPrefix(expression, "?")
			}
			p.Unnamed = p.Unnamed || p.Hidden
			if p.Regexp, err = regexp.Compile(expression); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", path, name, err)
			}
			out[name] = append(out[name], p)
		}
	}
	return out, nil
}

// Missing are the parts that no line of a text matches.
func Missing(cause []Part, text string) (out []Part) {
	for _, part := range cause {
		shown := false
		for line := range strings.Lines(text) {
			shown = shown || part.MatchString(line)
		}
		if !shown {
			out = append(out, part)
		}
	}
	return out
}

// Compare says where a message and its paragraph differ from what is known of a cause.
func Compare(cause []Part, message, paragraph string) (out []string) {
	for _, part := range cause {
		hidden := len(Missing([]Part{part}, message)) > 0
		unnamed := len(Missing([]Part{part}, paragraph)) > 0
		for _, c := range []struct {
			where     string
			is, known bool
		}{{"line of the message", hidden, part.Hidden}, {"sentence of the paragraph", unnamed, part.Unnamed}} {
			switch {
			case c.is && !c.known:
				out = append(out, fmt.Sprintf("no %s matches %q", c.where, part))
			case !c.is && c.known:
				out = append(out, fmt.Sprintf("a %s matches %q, which is marked as missing", c.where, part))
			}
		}
	}
	return out
}
