package story

import (
	"cmp"
	"slices"
	"strings"
)

// Causes merges findings of one cause: of the same property and, if it is known, the same line that
// decided. The faults of a story do not tell causes apart, because one bug breaks its property
// under many. A cause is named by its shortest story. The most harmful cause comes first.
func Causes(findings []Finding) (out []Finding) {
	at := map[string]int{}
	for _, f := range findings {
		group := f.Group()
		i, ok := at[group]
		if !ok {
			at[group] = len(out)
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
	slices.SortStableFunc(out, ByHarm)
	return out
}

// Line is the program's line that decided, as file:line; "" if it is not known.
func (f *Finding) Line() string {
	_, line, _ := strings.Cut(f.Cause, ", decided at ")
	return line
}

// Group is equal for findings of one cause.
func (f *Finding) Group() string {
	if line := f.Line(); line != "" {
		return f.Kind + "\n" + f.Property + "\n" + line
	}
	name := f.Cause
	if i := strings.LastIndex(name, ", under "); i >= 0 {
		name = name[:i]
	}
	return f.Kind + "\n" + cmp.Or(f.Property, name)
}
