package run

import (
	"slices"

	"github.com/wavetank/wavetank/history"
)

// Ignored says how many objects of a kind a run made that a real cluster would act upon and nothing
// in the world does.
type Ignored struct {
	Kind     history.Ref
	Made     int
	Watched  bool // somebody watched the kind, or wrote a subresource of it, as only those do who act upon it
	Modelled bool // a package of models would act upon them
}

// AddIgnored takes the objects of a kind in one run into those of all runs.
func AddIgnored(all []Ignored, u Ignored) []Ignored {
	at := slices.IndexFunc(all, func(have Ignored) bool { return have.Kind == u.Kind })
	if at < 0 {
		return append(all, u)
	}
	all[at].Made, all[at].Watched = max(all[at].Made, u.Made), all[at].Watched || u.Watched
	return all
}
