package sim

import (
	"testing"
	"time"
)

// Between the runs of a campaign pictures are drawn, which may take longer than a run may be silent. If the watchdog
// took that for a hung run, this test would end here with its message.
func TestOnlyRunsCanHang(t *testing.T) {
	const limit = 20 * time.Millisecond
	defer watch(t.Name(), limit, nil)()
	time.Sleep(10 * limit)
}
