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
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// Option changes what [Scenario] does.
type Option func(*settings)

// settings are what the options of a scenario have set.
type settings struct {
	world   *world.World
	kinds   []schema.GroupKind
	paths   []string
	objects []client.Object
	without []string
	keeps   []string // kinds that stay when all is deleted
	marks   []string // keys of annotations and labels that the programs read
	most    int      // actions
}

// kindsOf are the kinds of objects that an option was given.
func (s *settings) kindsOf(option string, objs []client.Object) (out []schema.GroupVersionKind) {
	for _, obj := range objs {
		gvk, err := s.world.Client().GroupVersionKindFor(obj)
		if err != nil {
			s.world.Misuse("%s: %v", option, err)
		}
		out = append(out, gvk)
	}
	return out
}

// Kinds names the kinds whose objects users write, by an object of each. Without it they are the
// kinds that have a definition and that a program watches, or all that have one. Samples of another
// kind that has a definition are left out.
func Kinds(objs ...client.Object) Option {
	return func(s *settings) {
		for _, gvk := range s.kindsOf("auto.Kinds", objs) {
			s.kinds = append(s.kinds, gvk.GroupKind())
		}
	}
}

// Samples gives manifests that users apply and change, in files or directories as for
// [sim.World.ApplyFiles]. The objects of a kind that has samples are these, under their own names.
func Samples(paths ...string) Option {
	return func(s *settings) { s.paths = append(s.paths, paths...) }
}

// Objects gives objects that users apply and change, as [Samples] does.
func Objects(objs ...client.Object) Option {
	return func(s *settings) { s.objects = append(s.objects, objs...) }
}

// Without switches properties off by their names: those of [Properties], and the default properties
// that [sim.World.Without] knows.
func Without(names ...string) Option {
	return func(s *settings) { s.without = append(s.without, names...) }
}

// Actions sets how many actions of users a run has at most. The default is 8.
func Actions(most int) Option { return func(s *settings) { s.most = most } }

// Scenario does what users do with an operator, and asks of it what can be asked of any operator.
// It is called when the programs have been started, and is the rest of the scenario.
//
//  1. The programs start in an empty cluster.
//  2. Users create an object of each kind, drawn from its schema, or the samples. The world settles
//     after each. If the reconcile of an object fails then, users create what the program has
//     looked for and not found. In half of the runs they create that before everything else. In one
//     run of three an object comes last, after those that need it.
//  3. Up to eight actions follow, each of them drawn: create, change a field, change it back,
//     scale, delete, delete and create again, apply everything again, delete a child, change a
//     child, remove a label of a child, restart a program, create, change or delete what a program
//     has looked for without success, set labels, annotations and fields as another manager, change
//     twice without a pause, restart a program during a deletion. The world settles after each; in
//     one run of three some actions do not wait for that. In one of three others two neighbours
//     change places. In half of the runs one more change of a field is the last action.
//  4. Everything is applied again, unless "apply is stable" is switched off, and each program is
//     restarted. Then everything is deleted, at last what programs have looked for.
//
// What the server refuses, by the schema, by CEL rules or by a webhook, is left out. Where the
// scenario has declared no faults, those of [Faults] are injected, and if it has hosts outside the
// cluster, faults of these. Properties of the scenario's own
// are judged, too.
func Scenario(w *sim.World, opts ...Option) {
	s := &settings{world: world.From(w.Context()), most: mostActions}
	for _, o := range opts {
		o(s)
	}
	if len(s.world.Processes()) == 0 {
		s.world.Misuse("auto.Scenario: no program is there; call w.Start or w.Run before it")
	}
	w.Settle()
	u := newUsers(s)
	prerequisites := u.provider.prerequisites(s.world.Default())
	u.drawn = drawPlan(s.world, u.subjects, s.most, len(prerequisites) > 0)
	drawn := w.Undisturbed()
	drawOrder(s.world, &u.drawn)
	s.declare(u.drawn.hurried, w.Undisturbed(), drawn)
	if !slices.Contains(s.without, ObjectsReconcile) {
		s.world.RequireSuccess()
	}
	if !s.world.DeclaresFaults() {
		w.Inject(Faults(s.world.Processes()...)...)
		if s.world.HasOutside() {
			w.Inject(outsideFaults()...)
		}
	}
	u.begin(prerequisites)
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
