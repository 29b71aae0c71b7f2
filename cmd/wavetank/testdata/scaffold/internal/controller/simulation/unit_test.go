package simulation

import (
	. "github.com/onsi/ginkgo/v2"
)

var _ = Describe("Something else", func() {
	It("is no simulation", func() { Fail("wavetank run has run a spec without a scenario") })
})
