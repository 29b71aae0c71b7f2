package world

import (
	"fmt"

	"github.com/wavetank/wavetank/sim/internal/process"
)

// failedSetups are the setup functions that have failed last.
type failedSetups map[*process.Process]failedSetup

// failedSetup is how the setup function of a process failed, and in which incarnation.
type failedSetup struct {
	incarnation int
	err         error
}

// of says that a process is down because its setup function failed; "" if it is not.
func (f failedSetups) of(p *process.Process) string {
	failed, ok := f[p]
	if !ok || failed.incarnation != p.Incarnations() {
		return ""
	}
	return fmt.Sprintf("the setup function of process %q failed in incarnation %d: %v", p.Name, failed.incarnation,
		failed.err)
}
