//go:build !unix

package campaign

import (
	"time"
)

// cpuTime is 0 where nobody has asked for better: stories then do not say what their search took.
func cpuTime() time.Duration { return 0 }
