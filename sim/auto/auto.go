// Package auto is a scenario without an author: users, faults and properties for an operator of
// which nothing is known but its definitions and what it does.
//
//	sim.Check(t, func(w *sim.World) {
//		w.Install("../../config/crd/bases")
//		w.Start("backup", setup, sim.Options(ctrl.Options{Scheme: scheme}))
//		auto.Scenario(w, auto.Samples("../../config/samples"))
//	})
//
// See docs/auto.md for what it finds.
package auto

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// Option changes what [Scenario] does.
type Option func(*users)

// Kinds names the kinds whose objects users write, by an object of each. Without it they are the
// kinds that have a definition and that a program watches, or all that have one. Samples of another
// kind that has a definition are left out.
func Kinds(objs ...client.Object) Option {
	return func(u *users) {
		for _, obj := range objs {
			gvk, err := u.world.Client().GroupVersionKindFor(obj)
			if err != nil {
				u.world.Misuse("auto.Kinds: %v", err)
			}
			u.kinds = append(u.kinds, gvk.GroupKind())
		}
	}
}

// Samples gives manifests that users apply and change, in files or directories as for
// [sim.World.ApplyFiles]. The objects of a kind that has samples are these, under their own names.
func Samples(paths ...string) Option { return func(u *users) { u.paths = append(u.paths, paths...) } }

// Objects gives objects that users apply and change, as [Samples] does.
func Objects(objs ...client.Object) Option {
	return func(u *users) { u.objects = append(u.objects, objs...) }
}

// Without switches properties off by their names: those of [Properties], and the default properties
// that [sim.World.Without] knows.
func Without(names ...string) Option {
	return func(u *users) { u.without = append(u.without, names...) }
}

// Actions sets how many actions of users a run has at most. The default is 8.
func Actions(most int) Option { return func(u *users) { u.most = most } }

// Scenario does what users do with an operator, and asks of it what can be asked of any operator.
// It is called when the programs have been started, and is the rest of the scenario.
//
//  1. The programs start in an empty cluster.
//  2. Users create an object of each kind, drawn from its schema, or the samples. The world settles
//     after each. If the reconcile of an object fails then, users create what the program has
//     looked for and not found. In half of the runs they create that before everything else.
//  3. Up to eight actions follow, each of them drawn: create, change a field, change it back,
//     scale, delete, delete and create again, apply everything again, delete a child, change a
//     child, remove a label of a child, restart a program, create, change or delete what a program
//     has looked for without success, set labels, annotations and fields as another manager, change
//     twice without a pause, restart a program during a deletion. The world settles after each; in
//     one run of three some actions do not wait for that. In one of three others two neighbours
//     change places.
//  4. Each program is restarted. Then everything is deleted, at last what programs have looked for.
//
// What the server refuses, by the schema, by CEL rules or by a webhook, is left out. Where the
// scenario has declared no faults, those of [Faults] are injected, and if it has hosts outside the
// cluster, faults of these. Properties of the scenario's own
// are judged, too.
func Scenario(w *sim.World, opts ...Option) {
	u := &users{world: world.From(w.Context()), sim: w, most: mostActions, wanted: map[int]*unstructured.Unstructured{},
		before: map[int]*unstructured.Unstructured{}, refusals: map[int]int{}}
	for _, o := range opts {
		o(u)
	}
	if len(u.world.Processes()) == 0 {
		u.world.Misuse("auto.Scenario: no program is there; call w.Start or w.Run before it")
	}
	w.Settle()
	u.subjects = u.subjectsOf()
	u.takeOver()
	u.prerequisites = u.prerequisitesIn(u.world.Default())
	u.drawn = u.plan()
	drawn := w.Undisturbed()
	u.drawOrder()
	u.declare(w.Undisturbed(), drawn)
	if !slices.Contains(u.without, ObjectsReconcile) {
		u.world.RequireSuccess()
	}
	if !u.world.DeclaresFaults() {
		w.Inject(Faults(u.world.Processes()...)...)
		if u.world.HasOutside() {
			w.Inject(outsideFaults()...)
		}
	}
	u.begin()
	u.act()
	u.end()
}

// Faults are those that are injected where a scenario declares none. An operator that works with
// any API server lives through all of them.
func Faults(processes ...string) []fault.Fault {
	out := []fault.Fault{fault.StaleCache(30 * time.Second), fault.StaleServer(time.Minute), fault.LostReply(),
		fault.Conflict(), fault.ServerError(), fault.RacingRequeue()}
	for _, name := range processes {
		out = append(out, fault.Crash(name))
	}
	return out
}

// outsideFaults are added to [Faults] where the scenario has hosts outside the cluster.
func outsideFaults() []fault.Fault {
	return []fault.Fault{fault.FailedEffect(), fault.SlowEffect(time.Minute), fault.DoubledEffect(),
		fault.HostDown(time.Minute)}
}

// users is every writer to the cluster other than the programs under test.
type users struct {
	world *world.World
	sim   *sim.World

	kinds   []schema.GroupKind
	paths   []string
	objects []client.Object
	without []string
	keeps   []string // kinds that stay when all is deleted
	marks   []string // keys of annotations and labels that the programs read
	most    int

	subjects []*subject
	drawn    plan
	wanted   map[int]*unstructured.Unstructured // what was applied last, of subjects that exist
	before   map[int]*unstructured.Unstructured // what was applied before the last change
	// prerequisites are what programs look for and users create in the default run.
	prerequisites []history.Ref
	refusals      map[int]int
	refused       error // the first object that was refused
}

// begin creates the objects that are there from the start. The world settles after each, because an
// operator may give the first of two what the second does not get.
func (u *users) begin() {
	if u.drawn.ready {
		for _, ref := range u.prerequisites {
			said, _ := u.provideAt(ref, 0)
			u.world.Drew("begin", said)
		}
	}
	for _, i := range u.drawn.first {
		u.world.Drew("begin", fmt.Sprintf("create %s: %s", u.subjects[i], u.make(i)))
		if !u.drawn.hurried {
			u.world.Settle()
			u.provideAll()
		}
	}
	u.provideSelected()
	if u.refused != nil && !slices.ContainsFunc(u.drawn.first, func(i int) bool { return u.wanted[i] != nil }) {
		u.world.Misuse("auto.Scenario: the server refuses every object that was made from the schema; give samples "+
			"that it takes, by auto.Samples or auto.Objects: %v", u.refused)
	}
	if u.drawn.hurried {
		u.wait(u.nextIsEarly(0))
	}
}

// wait lets the world settle, or only so much time pass.
func (u *users) wait(early time.Duration) (atRest bool) {
	if early > 0 {
		u.world.Sleep(early)
		return false
	}
	u.world.Settle()
	return true
}

// act performs the actions.
func (u *users) act() {
	atRest := u.nextIsEarly(0) == 0
	for i, a := range u.drawn.actions {
		if a.what == nothing {
			continue
		}
		if !atRest && !a.known() { // what there is to act on must not depend on the schedule
			u.world.Settle()
			atRest = true
		}
		if a.what == applyAgain {
			if len(u.wanted) > 0 {
				u.world.Drew(a.label, "apply everything again")
				u.world.ApplyAgain()
			}
			continue
		}
		said := u.perform(a)
		if said == "" {
			continue
		}
		u.world.Drew(a.label, said)
		atRest = u.wait(u.nextIsEarly(i + 1))
	}
	if !atRest {
		u.world.Settle()
	}
}

// nextIsEarly is how long after the action before it the next one happens; 0 if it waits for the
// world to settle.
func (u *users) nextIsEarly(from int) time.Duration {
	for _, a := range u.drawn.actions[from:] {
		if a.what != nothing {
			return a.early
		}
	}
	return 0
}

// end restarts the programs and deletes everything.
func (u *users) end() {
	u.restart("end", "restart every program")
	u.world.Settle()
	var left []int
	for i, s := range u.subjects {
		if u.wanted[i] != nil && !s.provided { // a finalizer may need what the operator has asked for
			left = append(left, i)
		}
	}
	for _, i := range slices.Backward(left) {
		u.world.Drew("end", u.remove(i))
	}
	if len(left) > 0 {
		if u.drawn.restarts {
			u.world.Sleep(soon[3])
			u.restart("end", "restart every program while objects are being deleted")
		}
		u.world.Settle()
	}
	u.clear()
}

// restart restarts every program.
func (u *users) restart(label, said string) {
	for _, name := range u.world.Processes() {
		u.world.Stop(name)
	}
	u.world.Drew(label, said)
}

// clear deletes what programs have looked for: nothing asks for it any longer.
func (u *users) clear() {
	for i, s := range u.subjects {
		if u.wanted[i] != nil && s.provided {
			u.world.Drew("end", u.remove(i))
		}
	}
	if len(u.wanted) == 0 {
		u.world.Drew("end", allDeleted)
	}
	u.world.Settle()
}
