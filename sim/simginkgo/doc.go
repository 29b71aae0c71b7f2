// Package simginkgo runs scenarios inside Ginkgo suites as kubebuilder scaffolds them.
//
// One line in the bootstrap hands over its *testing.T, which a run needs in order to have a clock
// of its own:
//
//	func TestControllers(t *testing.T) {
//		RegisterFailHandler(Fail)
//		simginkgo.Use(t)
//		RunSpecs(t, "Controller Suite")
//	}
//
// After that [Check] and [Explore] are called inside It or Entry as sim's own are called inside a
// test:
//
//	It("promotes each revision once", func() {
//		simginkgo.Check(func(w *sim.World) { … })
//	})
//
// The campaign is called after the spec's full text, so its base seed and its stories follow the
// spec and not the bootstrap. What it found is a report entry of the spec, which the
// console, --ginkgo.json-report and --ginkgo.junit-report show; the console shows it of a spec that
// passes only with -v, or if a declared fault was never injected, which is a warning. Helpers that
// call Check mark themselves with GinkgoHelper, as usual, and the failure is located at their
// caller.
//
// While a campaign runs, Gomega's package-level assertions (Expect, Eventually, Consistently) end
// the run instead of the spec: in the scenario, in a property, or in a reconciler, a failed one is
// the run's verdict, which is shrunk and told as a story like any other. The spec fails once,
// afterwards. Eventually polls in virtual time, and only its own requests let the world continue:
// [sim.World.Settle] is what one wants in a scenario.
//
// What programs log to GinkgoWriter during a campaign is dropped, unless Ginkgo runs with -v: the
// logs of every run would stand before the failure. Replay a story with -sim.log to read them.
//
// A suite that starts envtest in BeforeSuite does so before any simulation. Put simulations into a
// package of their own: docs/kubebuilder.md shows it.
//
// It does not reach what bypasses Gomega's package-level functions: Ginkgo's own Fail and Skip,
// GinkgoT, and Gomegas made with NewGomega or NewWithT mark the spec at once, without a story.
// Specs run one after the other in a process; ginkgo -p, which uses processes, is fine.
package simginkgo
