// Package sim runs Kubernetes controllers in a simulated cluster in which one seed decides everything: virtual time,
// scheduling, cache lag, crashes, lost replies, racing requeues.
//
// Hand it the SetupWithManager function that you ship and say what must hold:
//
//	func TestPromoteOnce(t *testing.T) {
//		sim.Check(t, func(w *sim.World) {
//			w.Install("config/crd/bases")
//			w.Start("pipelines", func(mgr ctrl.Manager) error {
//				return (&Reconciler{Client: mgr.GetClient(), HTTP: sim.HTTPClient(mgr)}).SetupWithManager(mgr)
//			}, sim.Options(ctrl.Options{Scheme: scheme}))
//			w.Inject(fault.StaleCache(30*time.Second), fault.Crash("pipelines"))
//			w.Always("each revision takes effect at most once", once)
//			w.Eventually("every environment gets its revision", promoted)
//			w.Apply(pipeline, app)
//			w.Settle()
//		})
//	}
//
// The manager, its informers, work queues, rate limiters and leader election are the real ones. Only the clock and the
// wire beneath them are simulated. When a property breaks, the run is shrunk to the shortest story that still breaks
// it, kept in testdata/sim, and printed with one command that replays it.
//
// # Words
//
//   - World: one simulated cluster with everything in it; lives for one run.
//   - Process: one program in the world. It has lives: a crash ends one, a restart begins the next by calling the setup
//     function again, so memory is truly lost, but for variables of packages.
//   - Choice: one decision, "which of n?". 0 is always the dull answer: oldest action, no fault, no delay.
//   - Tape: the choices of a run that were not dull. A run is a function of the test's code and a tape.
//   - Seed: a number from which a tape is made.
//   - Step: one granted action: a request takes effect, its reply arrives, a watch event arrives, a key is handed to a
//     worker. At most one at a time; then the world runs until every goroutine waits.
//   - Fault: something a controller may experience. Scenarios declare faults; choices place them.
//   - Effect: something that leaves the cluster; its ledger survives crashes.
//   - Property: always, eventually or sometimes, with a sentence for a name.
//   - Settle: the world first goes on under faults, for up to three virtual minutes; then faults stop and are healed,
//     scheduling becomes fair, and it runs until nothing is left to do. Then every eventually is judged, and faults may
//     strike again.
//   - Story: a minimised failing run on file, see package story.
//
// # Flags
//
// See go test -args -h for the -sim.* flags. Each has an environment twin (SIM_RUNS, …), because a flag given to ./...
// fails in packages that do not import sim. Give -count=1 with them where a second run should not be the first one's
// cached result, as with SIM_SEED=random. By default a scenario runs 100 times (20 times with -short), from a
// base seed fixed by the test's name. It ends earlier when it has used 5 s of CPU time and made 20 runs, or used 30 s. A
// campaign that ends with fewer than 20 runs says so in one line on its output, which go test hides where packages are
// named: it shows what a passing test writes only with -v or -json, and in the package's own directory (go test without
// a package). wavetank run shows it always.
//
// # Limits
//
// Tests must not be parallel: a run owns process-wide settings. Variables of packages are those of the test binary:
// they outlive lives and runs, and so do a sync.Once and what is registered with metrics.Registry (twice panics). Map
// ranges, select and math/rand/v2 in the code under test cannot be seeded. So a sample of runs is made twice, and the first
// step that differs is named. Such a pair is repeated ten times: runs that always differ fail the test, runs that differ
// now and then are a warning, and so is an error that only reads otherwise. wavetank run then makes the campaign again in
// exact mode, which takes chance out of Go's runtime. There is no pod network and no real socket; pods come up only where w.Builtin has a kubelet
// (package models/kubelet), and run nothing. What the API model does not know it refuses aloud.
package sim
