//go:build !unix

package campaign

import (
	"time"
)

// cpuTime is 0 on systems without an implementation. Stories then do not state the cost of their
// search.
func cpuTime() time.Duration { return 0 }
