// Package sim runs Kubernetes controllers in a simulated cluster. One seed decides everything:
// time, scheduling, cache lag, crashes and lost replies.
//
// Hand it the SetupWithManager function that you ship and say what must hold:
//
//	func TestPromoteOnce(t *testing.T) {
//		sim.Check(t, func(w *sim.World) {
//			w.Install("config/crd/bases")
//			w.Start("pipelines", func(mgr ctrl.Manager) error {
//				r := &Reconciler{Client: mgr.GetClient(), HTTP: sim.HTTPClient(mgr)}
//				return r.SetupWithManager(mgr)
//			}, sim.Options(ctrl.Options{Scheme: scheme}))
//			w.Inject(fault.StaleCache(30*time.Second), fault.Crash("pipelines"))
//			w.Always("each revision takes effect at most once", once)
//			w.Eventually("every environment gets its revision", promoted)
//			w.Apply(pipeline, app)
//			w.Settle()
//		})
//	}
//
// The manager, its informers, work queues, rate limiters and leader election are the real ones.
// Only the clock and the wire beneath them are simulated. When a property breaks, the run is shrunk
// to the shortest story that still breaks it, kept in testdata/sim, and printed with one command
// that replays it.
//
// # Words
//
//   - Scenario: the function that [Check] is given. A run executes it once, in a world of its own.
//     A campaign is all runs of it that one command makes.
//   - Choice: one decision of the harness. Index 0 is the default: oldest action, no fault, no
//     delay. The sequence of its choices decides a run, and a seed stands for one sequence.
//   - Process: one program in the world. Each start after a crash is a new incarnation, which calls
//     the setup function again. So memory is lost, except variables of packages.
//   - Step: a request takes effect, a reply or watch event arrives, a key is dequeued, a timer
//     fires.
//   - Fault: a failure that a scenario declares and choices inject.
//   - Effect: something outside the cluster that cannot be taken back.
//   - Story: a shrunk failing run in a file, see package story.
//
// # Flags
//
// go test -args -h lists the -sim.* flags. Each has an environment variable (SIM_RUNS, …), because
// a flag given to ./... fails in packages that do not import sim. By default a scenario runs 100
// times, or 20 times with -short, from a base seed fixed by the test's name. A campaign ends
// earlier when it has made 20 runs and used 5 s of CPU time, or used 30 s. One with fewer than 20
// runs prints a warning. go test shows that only with -v, with -json or in the package's own
// directory; wavetank run always shows it.
//
// # Limits
//
// Tests must not be parallel, because a run owns process-wide settings. Variables of packages
// outlive incarnations and runs, except controller-runtime's metrics.Registry.
//
// Map ranges, select and math/rand/v2 in the code under test cannot be seeded. So a sample of runs
// is made twice, and the first step that differs is named: see [Verify]. wavetank run then makes
// the campaign again in exact mode, which takes chance out of Go's runtime.
//
// There is no pod network and no real socket. Pods come up only where [World.Builtin] has a kubelet
// (package models/kubelet), and run nothing. Requests that the API model does not implement fail
// with an error that says so.
package sim
