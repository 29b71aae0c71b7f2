// This file exists to set the scene, so that each workload of the story is only about what happens
// in it.

package promotion

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/models/forge"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator.
const Operator = "pipelines"

// gitHost is where the forge is reached.
const gitHost = "git.example"

// World is a world with the operator, its pipeline and a forge in it.
type World struct {
	*sim.World
	// Record read this run's history.
	*Record
	// Git is the outside world.
	Git *forge.Forge
	// Environments in the order of promotion. Each has one target, in the namespace of its name,
	// and those that More names.
	Environments []string
	// More are further namespaces in which an environment runs.
	More map[string][]string

	tune func(*ctrl.Options)
	door *door
	// away are the clients of the clusters that the other environments' applications are in, by
	// namespace.
	away map[string]client.Client
	// only is the revision that may be open at the forge, "" as long as others may be, too.
	only string
}

// Begin installs the kinds and starts the operator; it applies nothing yet. Faults may be injected
// from here on.
func Begin(w *sim.World, v promotion.Variant, environments ...string) *World {
	return BeginWith(w, v, func(*ctrl.Options) {}, environments...)
}

// BeginWith is Begin for an operator whose main sets more options.
func BeginWith(w *sim.World, v promotion.Variant, tune func(*ctrl.Options), environments ...string) *World {
	s := set(w, tune, environments...)
	w.Install(crds)
	s.Replica(Operator, v, 1)
	return s
}

// set opens the record and puts the forge there, and nothing else.
func set(w *sim.World, tune func(*ctrl.Options), environments ...string) *World {
	git := forge.New()
	s := &World{
		World: w, Record: NewRecord(git), Git: git, Environments: environments, More: map[string][]string{},
		tune: tune, away: map[string]client.Client{}, door: &door{Handler: git},
	}
	w.External(gitHost, s.door)
	return s
}

// door is what stands before the forge. While it is shut nobody gets in, and it knows of a
// repository that is not there, and of one that fails to carry out orders.
type door struct {
	http.Handler
	shut          bool
	without, deaf string // what the paths of those repositories begin with
}

// ServeHTTP implements [http.Handler].
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case d.shut:
		http.Error(w, "the forge is down for maintenance", http.StatusServiceUnavailable)
	case d.without != "" && strings.HasPrefix(r.URL.Path, d.without):
		http.Error(w, "there is no such repository", http.StatusNotFound)
	case d.deaf != "" && r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, d.deaf):
		http.Error(w, "this cannot be done now", http.StatusServiceUnavailable)
	default:
		d.Handler.ServeHTTP(w, r)
	}
}

// Replica starts the operator once more, under another name: one that was not stopped in time, or a
// second leader.
func (s *World) Replica(name string, v promotion.Variant, workers int) {
	s.Start(name, setup(v, workers), sim.Options(s.options(v)))
}

func (s *World) options(v promotion.Variant) ctrl.Options {
	options := v.ManagerOptions(ctrl.Options{Scheme: scheme})
	s.tune(&options)
	return options
}

// setup is what the operator's main does with its manager.
func setup(v promotion.Variant, workers int) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		r := &promotion.Reconciler{Client: mgr.GetClient(), HTTP: sim.HTTPClient(mgr), Dial: dial(mgr), Variant: v,
			Workers: workers}
		return r.SetupWithManager(mgr)
	}
}

// What all runs share, made once: as in an operator's main, and because it takes longer than a run.
var (
	crds   = promotion.CRDs()
	scheme = newScheme()
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(fmt.Sprintf("the operator's scheme cannot be built: %v", err))
		}
	}
	return scheme
}

// Open applies the namespaces, the application of every environment, and the pipeline.
func (s *World) Open() {
	s.Apply(Namespace("shop"))
	for _, env := range s.Environments {
		s.Apply(Namespace(env), App(env))
	}
	s.Apply(Pipeline(s.Environments...))
}

// AllRun reports that an environment runs a revision wherever it does, and is ready with it.
func (s *World) AllRun(env, revision string) {
	for _, place := range append([]string{env}, s.More[env]...) {
		s.Runs(place, revision)
	}
}

// Runs reports, as Flux would, that an environment runs a revision and is ready with it.
func (s *World) Runs(env, revision string) { s.report(env, revision, true) }

// Struggles reports that an environment has applied a revision and is not ready with it.
func (s *World) Struggles(env, revision string) { s.report(env, revision, false) }

func (s *World) report(env, revision string, ready bool) {
	status := metav1.ConditionFalse
	if ready {
		status = metav1.ConditionTrue
	}
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"lastAppliedRevision": revision,
		"conditions": []metav1.Condition{{
			Type: v1alpha1.ReadyCondition, Status: status, Reason: "Reported", Message: "Applied revision: " + revision,
			LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
		}},
	}})
	if err != nil {
		panic(err)
	}
	c := s.away[env]
	if c == nil {
		c = s.Client()
	}
	if err := c.Status().Patch(s.Context(), App(env), client.RawPatch(types.MergePatchType, patch)); err != nil {
		panic(fmt.Sprintf("reporting that %s runs %s: %v", env, revision, err))
	}
}

// Deliver merges every open pull request, oldest first, and lets the environments run what was
// merged.
func (s *World) Deliver() {
	for i := range s.Git.PullRequests() {
		pr := s.Git.PullRequests()[i] // as it is now: the operator may have closed it since the last one was merged
		if pr.State != forge.Open {
			continue
		}
		if err := s.Git.Merge(pr.Number); err != nil {
			panic(err)
		}
		s.AllRun(pr.Order.Environment, pr.Order.Revision)
	}
}

// Namespace is an empty namespace.
func Namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// App is the application web in one environment.
func App(env string) *unstructured.Unstructured {
	app := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"path": "./" + env, "prune": true}}}
	app.SetAPIVersion("kustomize.toolkit.fluxcd.io/v1")
	app.SetKind("Kustomization")
	app.SetNamespace(env)
	app.SetName("web")
	return app
}

// Pipeline is shop/web, through the given environments, by pull requests.
func Pipeline(environments ...string) *v1alpha1.Pipeline {
	p := &v1alpha1.Pipeline{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
		Spec: v1alpha1.PipelineSpec{
			AppRef: v1alpha1.LocalAppReference{APIVersion: "kustomize.toolkit.fluxcd.io/v1", Kind: "Kustomization",
				Name: "web"},
			Promotion: &v1alpha1.PromotionPolicy{Strategy: v1alpha1.Strategy{PullRequest: &v1alpha1.PullRequestStrategy{
				Type: "github", URL: "https://" + gitHost + "/acme/shop", BaseBranch: "main",
			}}},
		},
	}
	for _, env := range environments {
		p.Spec.Environments = append(p.Spec.Environments, v1alpha1.Environment{
			Name: env, Targets: []v1alpha1.Target{{Namespace: env}},
		})
	}
	return p
}
