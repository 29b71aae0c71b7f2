// This file makes the world of a run.

package clusterextension

import (
	"errors"
	"net/http"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/clusterextension"
	v1 "github.com/wavetank/wavetank/controllers/clusterextension/v1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/scenarios/clusterextension/migration"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator, and Second that of another replica.
const (
	Operator = "operator-controller"
	Second   = "operator-controller-2"
)

// app is the extension of all workloads, and its package. apps is the namespace for its objects.
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
	// Manager changes the options of the operator's manager, if it is set.
	Manager func(*ctrl.Options)
}

// World is a world with the operator in it.
type World struct {
	*sim.World
	// Record read this run's history.
	*Record

	data     *migration.Datasets // outside of the cluster
	catalog  catalog
	contents int             // that the catalog has had
	helm     *helmConnection // of the operator's latest incarnation
}

// Begin installs the kinds and starts the operator. The catalog offers version 1, and there is no
// extension yet.
func Begin(w *sim.World, t Setting) *World {
	w.Install("../../controllers/clusterextension/crds")
	effects := history.WithLedger(w.Context(), func(e history.Effect) {
		e.Event = len(w.History().Events)
		w.History().Record(e)
	})
	s := &World{World: w, Record: newRecord(t), data: migration.New(effects)}
	w.Builtin(s.data)
	w.Apply(worlds.Namespace(clusterextension.DefaultNamespace), worlds.Namespace(apps))
	for _, name := range []string{Operator, Second}[:max(1, t.Replicas)] {
		w.Start(name, s.operator, sim.Options(t.options()))
	}
	w.Apply(clusterCatalog())
	s.Offers(one)
	return s
}

func (s *World) operator(mgr ctrl.Manager) error {
	s.helm = &helmConnection{left: -1}
	mgr.GetConfig().Wrap(s.helm.wrap) // the manager's own client has its connection already
	r := &clusterextension.Reconciler{Client: mgr.GetClient(), Catalog: &s.catalog, Variant: s.Setting.Variant,
		Workers: s.Setting.Workers, ChunkSize: s.Setting.ChunkSize}
	return r.SetupWithManager(mgr)
}

func (t Setting) options() ctrl.Options {
	o := clusterextension.ManagerOptions(ctrl.Options{Scheme: scheme})
	o.Controller.UsePriorityQueue = ptr.To(true)
	if t.Replicas > 1 {
		worlds.Elect(&o, "9c4404e7.operatorframework.io", clusterextension.DefaultNamespace)
	}
	if t.Manager != nil {
		t.Manager(&o)
	}
	return o
}

// edgesTo are the versions from which an edge leads to another.
func (t Setting) edgesTo(version string) []string {
	return map[string][]string{two: {one}, refused: {one}, hooked: {one}, slow: {one}, broken: {one},
		three: t.Edges}[version]
}

// Offers puts a version into the catalog, which wakes every extension.
func (s *World) Offers(version string) {
	from := s.Setting.edgesTo(version)
	b := clusterextension.Bundle{Name: bundleName(version), Version: version, Channels: []string{"stable"},
		Reference: "registry.example/shop:" + version, Chart: charts[version]}
	for _, f := range from {
		b.From = append(b.From, bundleName(f))
	}
	s.catalog.withdraw(version)
	s.catalog.bundles = append(s.catalog.bundles, b)
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

// resolved reports in the status of the catalog that it has new content.
func (s *World) resolved() {
	s.contents++
	patch := worlds.MergePatch(`{"status":{"resolvedSource":{"type":"Image",`+
		`"image":{"ref":"registry.example/catalog@sha256:%064d"}}}}`, s.contents)
	worlds.Must(s.Client().Status().Patch(s.Context(), clusterCatalog(), patch), "resolving the catalog")
}

// Wants applies the extension, with a version and a policy unless they are "".
func (s *World) Wants(version, policy string) {
	ext := extension()
	ext.Spec.Source.Catalog.Version, ext.Spec.Source.Catalog.UpgradeConstraintPolicy = version, policy
	current := &v1.ClusterExtension{}
	if err := s.Client().Get(s.Context(), client.ObjectKeyFromObject(ext), current); err == nil {
		ext.Finalizers = current.Finalizers // the user edits what is there
	}
	s.Apply(ext)
}

// extension is an extension for any version of the package.
func extension() *v1.ClusterExtension {
	return &v1.ClusterExtension{
		ObjectMeta: metav1.ObjectMeta{Name: app},
		Spec: v1.ClusterExtensionSpec{
			Namespace:      apps,
			ServiceAccount: v1.ServiceAccountReference{Name: "installer"},
			Source: v1.SourceConfig{SourceType: v1.SourceTypeCatalog,
				Catalog: &v1.CatalogFilter{PackageName: app}},
		},
	}
}

// helmConnection is Helm's connection to the API server during one incarnation of the operator. It
// can be cut at the same place in every run, so that what follows can be interrupted everywhere.
type helmConnection struct {
	next http.RoundTripper
	left int // writes until it is cut; never if negative
}

func (c *helmConnection) wrap(next http.RoundTripper) http.RoundTripper {
	c.next = next
	return c
}

// RoundTrip implements http.RoundTripper.
func (c *helmConnection) RoundTrip(r *http.Request) (*http.Response, error) {
	if c.left == 0 {
		return nil, errors.New("the connection is cut")
	}
	if r.Method != http.MethodGet && c.left > 0 {
		c.left--
	}
	return c.next.RoundTrip(r)
}

// scheme is shared by all runs, because making it takes longer than a run.
var scheme = worlds.Scheme(v1.AddToScheme)
