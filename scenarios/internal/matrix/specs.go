// This file has a suite of specs check the cells of a table.

package matrix

import (
	"sync"
	"testing"

	"github.com/wavetank/wavetank/sim/result"
)

// Cells checks the cells of a table one by one.
type Cells[V ~string] struct {
	table   Table[V]
	explore Explorer
	read    func() (*prover[V], error)
}

// NewCells returns the cells of a table, whose runs explore makes.
func NewCells[V ~string](table Table[V], explore Explorer) *Cells[V] {
	return &Cells[V]{table: table, explore: explore, read: sync.OnceValues(func() (*prover[V], error) {
		cells, err := table.results()
		shared := map[campaign[V]]result.Report{}
		return &prover[V]{table: table, cells: cells, shared: shared, explorer: explore}, err
	})}
}

// Check repeats the failure of a variant in a case, or has it pass a few runs.
func (c *Cells[V]) Check(t testing.TB, name string, v V) error {
	p, err := c.read()
	if err != nil {
		return err
	}
	asked := c.table.Case(name)
	switch {
	case Replaying():
		return c.explore(asked.Scenario(v)).Err()
	case asked.Outcome(v) == Passes:
		return p.pass(t, asked, v, few).Err()
	}
	for i := range p.cells {
		if k := &p.cells[i]; k.Case == name && k.Variant == string(v) {
			return p.replay(t, asked, v, k)
		}
	}
	return nil
}

// Writing reports whether TestMatrix makes the runs that the results lack.
func Writing() bool { return *write }
