// This file exists to set the scene, so that each workload of the story is only about what happens
// in it.

package clusterextension

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/migration"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator, and Second that of another replica.
const (
	Operator = "operator-controller"
	Second   = "operator-controller-2"
)

// app is the extension that all workloads are about, and apps the namespace that it is installed
// into.
const app, apps = "shop", "apps"

// Setting is how one world differs from another.
type Setting struct {
	// Variant of the operator.
	Variant clusterextension.Variant
	// Edges are the versions from which version 3 may be reached.
	Edges []string
	// ChunkSize is how many bytes of a record fit into a Secret; 0 for the real 1 MiB, into which
	// all of it fits.
	ChunkSize int
	// Replicas of the operator, with leader election, if more than one.
	Replicas int
	// Workers, if not one.
	Workers int
	// Terminates is how long an empty namespace takes to go; 5 s at the least, as in a real
	// cluster.
	Terminates time.Duration
	// Classic takes the work queue that controller-runtime had before the priority queue.
	Classic bool
	// ReadYourWrites gives the operator a client that waits until the cache has seen what it wrote.
	ReadYourWrites bool
}

// World is a world with the operator in it.
type World struct {
	*sim.World
	// Record read this run's history.
	*Record
	// Setting of this world.
	Setting Setting
	// Data is what lies outside.
	Data *migration.Datasets

	catalog  *catalog
	contents int
	helm     *helmConnection // of the operator's latest incarnation
}

// Begin installs the kinds and starts the operator; the catalog offers version 1, and nothing is
// wanted yet.
func Begin(w *sim.World, s Setting) *World {
	w.Install(crds)
	add := func(e history.Effect) {
		e.Event = len(w.History().Events)
		w.History().Record(e)
	}
	out := &World{World: w, Setting: s, catalog: &catalog{}, Data: migration.New(history.WithLedger(w.Context(), add))}
	out.Record = newRecord(out.catalog)
	out.counts = s.Variant == clusterextension.V6
	w.Builtin(out.Data)
	if s.Terminates > 0 {
		w.Builtin(worlds.Slow(namespace.New(), "wait ", s.Terminates))
	}
	w.Apply(worlds.Namespace(clusterextension.DefaultNamespace), worlds.Namespace(apps))
	out.Replica(Operator)
	if s.Replicas > 1 {
		out.Replica(Second)
	}
	w.Apply(clusterCatalog())
	out.Offers(one)
	return out
}

// Replica starts the operator under a name.
func (s *World) Replica(name string) {
	s.Start(name, func(mgr ctrl.Manager) error {
		s.helm = connect(mgr.GetConfig())
		r := &clusterextension.Reconciler{Client: mgr.GetClient(), Catalog: s.catalog, Variant: s.Setting.Variant,
			Workers: s.Setting.Workers, ChunkSize: s.Setting.ChunkSize}
		return r.SetupWithManager(mgr)
	}, sim.Options(s.Setting.options()))
}

func (s Setting) options() ctrl.Options {
	o := clusterextension.ManagerOptions(ctrl.Options{Scheme: scheme})
	o.Controller.UsePriorityQueue = ptr.To(!s.Classic)
	if s.Replicas > 1 {
		worlds.Elect(&o, "9c4404e7.operatorframework.io", clusterextension.DefaultNamespace)
	}
	if s.ReadYourWrites {
		worlds.ReadYourWrites(&o)
	}
	return o
}

// Offers puts a version into the catalog; version 3 gets the edges of the setting. Every extension
// hears of it.
func (s *World) Offers(version string) {
	from := map[string][]string{two: {one}, refused: {one}, hooked: {one}, slow: {one}, broken: {one},
		three: s.Setting.Edges}[version]
	s.catalog.offer(version, from...)
	s.right = version
	if version == three && (s.failing || !slices.Contains(from, two) && !slices.Contains(from, slow)) {
		s.right = "" // it depends on how far version 2 got
	}
	s.failing = version == refused
	s.resolved()
}

// Withdraws takes a version out of the catalog.
func (s *World) Withdraws(version string) {
	s.catalog.withdraw(version)
	s.right = ""
	s.resolved()
}

// resolved says that the catalog has new content.
func (s *World) resolved() {
	s.contents++
	s.known()
	ref := fmt.Sprintf(`{"status":{"resolvedSource":{"type":"Image",`+
		`"image":{"ref":"registry.example/catalog@sha256:%064d"}}}}`, s.contents)
	if err := s.Client().Status().Patch(s.Context(), clusterCatalog(),
		client.RawPatch(types.MergePatchType, []byte(ref))); err != nil {
		panic(fmt.Sprintf("resolving the catalog: %v", err))
	}
}

// Wants applies the extension; a version other than "" is pinned, and a policy other than "" is
// set.
func (s *World) Wants(version, policy string) {
	ext := extension()
	ext.Spec.Source.Catalog.Version, ext.Spec.Source.Catalog.UpgradeConstraintPolicy = version, policy
	current := &v1.ClusterExtension{}
	if err := s.Client().Get(s.Context(), client.ObjectKeyFromObject(ext), current); err == nil {
		ext.Finalizers = current.Finalizers // the user edits what is there
	}
	s.Apply(ext)
}

// extension wants the package, whatever its version.
func extension() *v1.ClusterExtension {
	return &v1.ClusterExtension{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: v1.ClusterExtensionSpec{
			Namespace:      apps,
			ServiceAccount: v1.ServiceAccountReference{Name: "installer"},
			Source: v1.SourceConfig{SourceType: v1.SourceTypeCatalog,
				Catalog: &v1.CatalogFilter{PackageName: packageName}},
		},
	}
}

// What all runs share, made once: as in an operator's main, and because it takes longer than a run.
var (
	crds   = clusterextension.CRDs()
	scheme = worlds.Scheme(v1.AddToScheme)
)
