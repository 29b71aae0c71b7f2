package reports

import (
	"cmp"
	"strings"

	"github.com/wavetank/wavetank/story"
)

// Causes merges findings of one cause: of the same property and, if it is known, the same line that
// decided. The faults of a story do not tell causes apart, because one bug breaks its property
// under many. A cause is named by its shortest story.
func Causes(findings []story.Finding) (out []story.Finding) {
	at := map[string]int{}
	for _, f := range findings {
		i, ok := at[causeKey(f)]
		if !ok {
			at[causeKey(f)] = len(out)
			out = append(out, f)
			continue
		}
		was := out[i]
		if f.Steps < was.Steps {
			out[i].Cause, out[i].Story, out[i].Steps = f.Cause, f.Story, f.Steps
		}
		if f.First < was.First {
			out[i].First, out[i].Strategy = f.First, f.Strategy
		}
		out[i].Count += f.Count
	}
	return out
}

// lineOf is the program's line that decided, as file:line; "" if it is not known.
func lineOf(f story.Finding) string {
	_, line, _ := strings.Cut(f.Cause, ", decided at ")
	return line
}

// causeKey is equal for findings of one cause.
func causeKey(f story.Finding) string {
	if line := lineOf(f); line != "" {
		return f.Kind + "\n" + f.Property + "\n" + line
	}
	name := f.Cause
	if i := strings.LastIndex(name, ", under "); i >= 0 {
		name = name[:i]
	}
	return f.Kind + "\n" + cmp.Or(f.Property, name)
}
