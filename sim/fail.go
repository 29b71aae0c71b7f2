package sim

import "github.com/wavetank/wavetank/sim/internal/world"

// Fail ends the run that is under way because an assertion failed at site (file:line), and does not
// return. It is the fail handler that assertion libraries get while a campaign runs: the failure
// becomes that of the run, with a story. Any goroutine may call it. On one of the code under test
// it ends the goroutine, as t.FailNow does, and the run ends at its next quiet moment. Without a
// run it reports false.
func Fail(site, message string) bool { return world.Fail(site, message) }
