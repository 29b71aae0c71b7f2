package sim

import (
	"context"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// World is one simulated cluster with everything in it. It lives for one run. Its methods must be
// called on the goroutine that the scenario was called on.
type World struct{ world *world.World }

// Start adds a process that is one manager. setup is the function that the operator ships, called
// afresh for each incarnation.
func (w *World) Start(name string, setup func(ctrl.Manager) error, opts ...ProcessOption) {
	w.world.Start(name, setup, processOptions(opts))
}

// Run adds a process that is any program: main is called afresh for each incarnation and must
// return when ctx is done. The program reaches the cluster through cfg. One that makes managers
// itself uses [NewManager], to which it gives its ctrl.Options. Of those given here by [Options]
// only the Scheme counts, for [World.Client] and [World.Apply]; others are refused.
func (w *World) Run(name string, main func(ctx context.Context, cfg *rest.Config) error, opts ...ProcessOption) {
	w.world.Run(name, main, processOptions(opts))
}

// Upgrade makes the next incarnation of a process another version of the operator, as the rollout
// of a Deployment does. The current incarnation is asked to stop, as by SIGTERM, and the kubelet
// starts the next one when it has ended. A choice of the run sets how long after the call that is:
// at once by default, at most 10 s. Calling Upgrade with the setup function of an earlier version
// takes the process back.
//
// Options replace those of the version before; what they do not set stays. Install new
// definitions before, by [World.Apply] or [World.ApplyFiles], as kubectl apply -k does: until the
// process stops, the version before works with them. The manifests of [AsDeployed] replace the
// roles and bindings of the same names.
//
// A Deployment with several replicas is several processes. Call Upgrade for each, and old and new
// run together until all have been replaced. See docs/upgrades.md.
func (w *World) Upgrade(name string, setup func(ctrl.Manager) error, opts ...ProcessOption) {
	w.world.Upgrade(name, setup, func(o *world.ProcessOptions) {
		for _, opt := range opts {
			opt(o)
		}
	})
}

// Stop asks a process to end, as SIGTERM does. The kubelet starts it again at once when it has
// ended.
func (w *World) Stop(name string) { w.world.Stop(name) }

// Inject declares faults, in addition to those declared before. From here on they may be injected,
// wherever the choices of the run say, until the next Settle ends them. After that they are on
// again. After [World.EndFaults] Inject begins with an empty set, so a scenario can exchange its
// faults:
//
//	w.Inject(fault.StaleCache(30 * time.Second))
//	w.Settle()
//	w.EndFaults()
//	w.Inject(fault.Crash("operator")) // and no stale cache any longer
func (w *World) Inject(faults ...fault.Fault) { w.world.Inject(faults...) }

// EndFaults ends all faults for the rest of the run, for scenarios that measure what follows. Only
// faults that [World.Inject] declares later are injected after it. What was delayed arrives, what
// was cut off is reachable, and paused processes continue.
func (w *World) EndFaults() { w.world.EndFaults() }

// Install adds custom resource definitions and webhook configurations: directories or files of
// YAML, or objects, as envtest takes them. The manager that registers a webhook's path serves it,
// whatever Service the configuration names, if [Serves] says nothing else. Other objects in the
// files are ignored.
//
// Install adds and never replaces. A definition or configuration whose name another one has is
// refused, because a real cluster would drop the first: kubebuilder calls the webhook
// configurations of every operator alike until kustomize gives them its namePrefix. What is the
// same may be installed twice. To change what is installed, use [World.Apply].
func (w *World) Install(crds ...any) { w.world.Install(crds...) }

// Apply creates the objects, or changes those that exist as kubectl apply does on the client's
// side.
//
//   - Fields that an object names get its values. Fields that it does not name stay as they are on
//     the server, so defaults and what operators have written stay.
//   - Fields that the last Apply of the object named, and that it names no more, are removed. The
//     world itself keeps the object applied last: no annotation is added to it. An object that was
//     deleted and created again by another writer counts as never applied.
//   - Lists of built-in types are merged by their keys. Those of custom resources are replaced.
//   - An object that has all this already gets no request to change it, even while it is being
//     deleted. To create it again, let the deletion finish first, with [World.Settle].
//
// A Go struct names the zero value of each field that its tag does not omit; a nil pointer, map or
// slice counts as not named. In an *unstructured.Unstructured, nil removes a field.
//
// Status, finalizers and owners of an object that exists are left alone: [World.Client] changes
// them. What the server itself keeps in the metadata does not count, so an object may come from
// World.Client.
//
// A refusal because a webhook does not answer is tried again every second: for ten minutes, then
// for ten more without faults. An object that disappears between the read and the write is created.
// All other refusals are mistakes of the scenario. The rules are those of
// k8s.io/kubectl/pkg/cmd/apply/patcher.go.
func (w *World) Apply(objs ...client.Object) { w.world.Apply(objs...) }

// ApplyFiles applies the objects in files of YAML or JSON, and in those of directories, as
// [World.Apply] does: the samples of a project, for example. Paths are seen from the test's
// package. What names no namespace goes to "default".
func (w *World) ApplyFiles(paths ...string) { w.world.ApplyFiles(paths...) }

// ApplyServerSide applies the objects as kubectl apply --server-side --force-conflicts does. The
// server decides by field ownership (KEP-555) what changes and what goes; the field manager is
// "kubectl".
//
// What [World.Apply] sent before belongs to another field manager, so use one of the two for an
// object. A status is not sent. To apply under another name or without force, call
// World.Client().Apply.
func (w *World) ApplyServerSide(objs ...client.Object) { w.world.ApplyServerSide(objs...) }

// ApplyAgain applies once more what [World.Apply] and [World.ApplyServerSide] applied last, as the
// next synchronisation of a GitOps tool does. It takes the place of a [World.Settle]:
//
//  1. The world settles, as in Settle.
//  2. Each object that is still there and is not being deleted is applied again, in the order in
//     which they were applied first. What was given to [World.Remove] since is left out, and so is
//     what the scenario has changed since by [World.Client]: applying would take that back.
//  3. The world settles again. No faults are injected from 1 to here.
//
// The property "apply is stable" of the default properties then compares the world with what it was
// before. A run in which the world did not settle before is not compared.
func (w *World) ApplyAgain() { w.world.ApplyAgain() }

// Remove deletes the objects; those that are gone already are fine. A webhook that does not answer
// is asked again, as by [World.Apply].
func (w *World) Remove(objs ...client.Object) { w.world.Remove(objs...) }

// Client is a client of the user's: for anything that [World.Apply] and [World.Remove] do not do.
// Inside a property it reads the server's state at that moment.
func (w *World) Client() client.Client { return w.world.Client() }

// Always declares that holds must return nil after every step. The sentence is the property's name.
func (w *World) Always(sentence string, holds func(*history.History) error) {
	w.world.Always(sentence, holds)
}

// Eventually declares that holds must return nil whenever the world has settled or, where the
// property "settles" is switched off, Settle gives up waiting. It is judged by [World.Settle]
// alone, so a scenario that never settles afterwards is refused: it could not fail.
func (w *World) Eventually(sentence string, holds func(*history.History) error) {
	w.world.Eventually(sentence, holds)
}

// Sometimes declares that happened must be true at least once in a campaign, when a world has
// settled or a run ends. A campaign in which it never was fails: the scenario did not explore what
// it says it does.
func (w *World) Sometimes(sentence string, happened func(*history.History) bool) {
	w.world.Sometimes(sentence, happened)
}

// Without switches default properties off for this run, by their names, such as
// property.DefaultSettles. These are the properties that every run is judged by without a line in
// the scenario:
//
//   - "settles": the world settles within the bound of [World.Settle]. Without it Settle gives up
//     waiting at that bound and judges at the next quiet moment, as for an operator that writes on
//     a period by design.
//   - "no hot loop": no key is dequeued more than 100 times within 10 s without a reason.
//   - "no panic": no reconcile panics, and none ends its goroutine.
//   - "no stuck finalizer": when the world has settled, no object is kept from its deletion by
//     finalizers.
//   - "no missing permission": no request of a process is refused because the rights of its
//     deployment do not allow it. It is judged for processes with [AsDeployed] alone.
//   - "cache untouched": no program changes an object of an informer's cache in place.
//   - "apply is stable": applying the same objects again changes nothing. It is judged by
//     [World.ApplyAgain] alone.
//
// Package property says exactly what each means.
func (w *World) Without(names ...string) { w.world.Without(names...) }

// Sleep lets virtual time pass, under faults.
func (w *World) Sleep(d time.Duration) { w.world.Sleep(d) }

// Settle runs the world until nothing is left to do, then judges every Eventually property.
//
//  1. Fault phase: faults are injected until nothing is under way, for at most three minutes of
//     virtual time or 2,000 steps.
//  2. Recovery: injected faults end and scheduling becomes fair.
//  3. Quiescence: Settle waits until no request, watch event, reconcile or start of a process is
//     pending, every delayed requeue has fired since the last change, and nothing has happened for
//     a second. It waits longer for programs that poll, and for outside services that they ask.
//
// The section Quiescence of docs/concepts.md has all conditions, with their limits.
//
// Settle cannot see the timers of an outside service, nor those that a program keeps to itself. Use
// [World.Sleep] to let them fire, after [World.EndFaults] if no fault shall be injected meanwhile.
// The schedules of CronJobs do not come round once faults have ended, so they need Sleep, too.
//
// Settle fails the run, and lists what is pending, after three times the longest delay (at least
// 3,000 s) or after -sim.max-steps. For an operator that writes on a period by design,
// [World.Without] has it judge then, as soon as nothing is under way. Afterwards faults are
// injected again.
func (w *World) Settle() { w.world.Settle() }

// History is the record of this run so far.
func (w *World) History() *history.History { return w.world.History() }

// Undisturbed is the history of the undisturbed run of this scenario, for property.CrashSafe to
// compare with: no fault is injected, every choice is the default choice, and [Draw] gives the
// values that it has given in this run until now. So draw what users do before Undisturbed is
// called. The undisturbed run is made when it is asked for, once for the same values. In that run
// itself it is the run's own history. [history.History.Redrawn] of it is the same run with other
// random numbers.
func (w *World) Undisturbed() *history.History { return w.world.Undisturbed() }

// Context is done when the run ends.
func (w *World) Context() context.Context { return w.world.Context() }

// Builtin adds controllers that belong to the cluster itself, from the packages under models, for
// example workload.New() and kubelet.New(). One of the same name is replaced: the namespace
// controller, the garbage collector and the controllers that protect claims and volumes are there
// from the start, with their default settings.
func (w *World) Builtin(actors ...actor.Actor) { w.world.Builtin(actors...) }

// External puts a model of the outside world behind a host name. The handler is called on the
// scheduling goroutine, as one atomic step, and must not block.
//
// The host is as it stands in URLs, with the port if they have one. It may be a pattern as
// path.Match knows them, in which * stands for any text within one label: "*-svc.*.svc:8080"
// matches "a-x7k2p-svc.default.svc:8080". A host itself comes before a pattern, and a longer
// pattern before a shorter one. The handler sees in r.Host which host was meant.
//
// A request that is neither GET nor HEAD and is answered below 400 is an effect (see
// [history.Effect]). The handler calls [history.AddEffect] to give the effect the key by which
// properties such as property.AtMostOnce know it again.
//
// A nil handler says that there is no such host: requests fail as they do where a name is not
// resolved. A request to a host of which nothing was said is a misuse, as an operator that lives
// with errors would look as if it worked.
func (w *World) External(host string, handler http.Handler) { w.world.External(host, handler) }

// ExternalServices puts models behind Services of the world's own cluster, whatever their names:
//
//	w.ExternalServices(func(s *corev1.Service) http.Handler {
//		if s.Labels["app"] == "database" { // or by owner: metav1.GetControllerOf(s)
//			return databases.of(s.UID)
//		}
//		return nil
//	})
//
// The function is asked for each request that reaches a Service, and returns nil for one that it
// does not serve. Of several functions the first that returns a handler counts. It is called on the
// scheduling goroutine, and so is the handler, as that of [World.External] is.
//
// A Service is reached as name.namespace, name.namespace.svc and name.namespace.svc.cluster.local,
// while it exists: before and after, there is no such host. A port that it does not have refuses
// the connection, unless it is headless. Whether pods are ready does not count. Faults strike these
// requests as those to other hosts. A host that was given to External itself comes before a
// Service, and a Service before a pattern.
func (w *World) ExternalServices(model func(*corev1.Service) http.Handler) {
	w.world.ExternalServices(model)
}

// ExternalPods puts models into Pods of the world's own cluster, for an operator that sends
// requests to single Pods, as those of databases do. The function is asked and called as that of
// [World.ExternalServices] is.
//
// A Pod is reached at the address in its status and, behind a headless Service, as
// hostname.subdomain.namespace.svc, at any port. The kubelet model gives it the address. The
// connection is refused unless the Pod runs. When the Pod is gone, its address leads nowhere.
func (w *World) ExternalPods(model func(*corev1.Pod) http.Handler) { w.world.ExternalPods(model) }

// Cluster adds a cluster, whose API server is reached at "http://" + host through the transport of
// [HTTPClient]:
//
//	cfg := &rest.Config{Host: "http://prod.example", Transport: httpClient.Transport}
//
// Its objects are in the history with Ref.Cluster set to the host: see [history.History.Find].
// Faults reach it as they reach the world's own, except Conflict and StaleServer.
//
// The operator makes the caches of such a cluster itself, as by cluster.New, where the harness
// cannot reach. They list in map order, as client-go does. An operator that depends on that order,
// as one that writes while it ranges over a list, is called nondeterministic. Let it sort, or let
// exact mode take chance out of it (wavetank run --exact).
func (w *World) Cluster(host string) *Cluster { return &Cluster{w.world.Cluster(host)} }
