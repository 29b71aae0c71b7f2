package run

import (
	"slices"
	"time"
)

// Waits counts the lags of a fault that met a program which waited for its own write to appear in
// its cache.
type Waits struct {
	Fault     string
	Cut       int           // lags that ended before the wait
	Longest   time.Duration // the longest of them
	Outlasted int           // lags during which a wait ended
}

// AddWaits adds the counts of one fault to those of all.
func AddWaits(all []Waits, w Waits) []Waits {
	at := slices.IndexFunc(all, func(have Waits) bool { return have.Fault == w.Fault })
	if at < 0 {
		return append(all, w)
	}
	all[at].Cut += w.Cut
	all[at].Longest = max(all[at].Longest, w.Longest)
	all[at].Outlasted += w.Outlasted
	return all
}
