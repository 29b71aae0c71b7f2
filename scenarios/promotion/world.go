// This file holds the world of the scenario: the forge, the operator, a pipeline, people and Flux,
// and other clusters with their GitopsCluster and Secret.

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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/scenarios/promotion/forge"
	"github.com/wavetank/wavetank/sim"
)

// Operator is the name of the process that runs the operator.
const Operator = "pipelines"

// gitHost is where the forge is reached.
const gitHost = "git.example"

// World is a world with the operator, its pipeline and a forge in it.
type World struct {
	*sim.World
	*Record
	Git     *forge.Forge
	outages *outages // of Git
	// Environments in the order of promotion. Each has a target in the namespace of its name.
	Environments []string
	// Doubled environments have their second target, too, whatever runs there.
	Doubled bool

	tune func(*ctrl.Options) // what the operator's main sets
	// remote are the clusters that the other environments' applications are in, by namespace.
	remote map[string]*sim.Cluster
}

// empty is a world with a forge, and nothing else.
func empty(w *sim.World, tune func(*ctrl.Options), environments ...string) *World {
	git := forge.New()
	s := &World{
		World: w, Record: NewRecord(git), Git: git, Environments: environments, tune: tune,
		remote: map[string]*sim.Cluster{}, outages: &outages{Handler: git},
	}
	w.External(gitHost, s.outages)
	return s
}

// outages is a forge that may be down as a whole, may not have a repository, or may fail to carry
// out orders for one.
type outages struct {
	http.Handler
	down             bool
	missing, failing string // what the paths of those repositories begin with
}

// ServeHTTP implements [http.Handler].
func (o *outages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case o.down:
		http.Error(w, "the forge is down for maintenance", http.StatusServiceUnavailable)
	case o.missing != "" && strings.HasPrefix(r.URL.Path, o.missing):
		http.Error(w, "there is no such repository", http.StatusNotFound)
	case o.failing != "" && r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, o.failing):
		http.Error(w, "this cannot be done now", http.StatusServiceUnavailable)
	default:
		o.Handler.ServeHTTP(w, r)
	}
}

// Replica starts the operator once more, under another name: one that was not stopped in time, or a
// second leader.
func (s *World) Replica(name string, v promotion.Variant, workers int) {
	s.Start(name, setup(v, workers), sim.Options(s.options(v)))
}

func (s *World) options(v promotion.Variant) ctrl.Options {
	options := ctrl.Options{Scheme: scheme}
	if v == promotion.V5 {
		worlds.ReadYourWrites(&options)
	}
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

// crds has the definitions of the operator's kinds.
const crds = "../../controllers/promotion/crds"

// scheme is shared by all runs, because making it takes longer than a run.
var scheme = worlds.Scheme(v1alpha1.AddToScheme)

// Open applies the namespaces, the application of every environment, and the pipeline.
func (s *World) Open() {
	s.Apply(worlds.Namespace("shop"))
	for _, env := range s.Environments {
		s.Apply(worlds.Namespace(env), App(env))
	}
	s.Apply(Pipeline(s.Environments...))
}

// Runs reports, as Flux would, that an environment runs a revision and is ready with it.
func (s *World) Runs(env, revision string) { s.report(env, revision, true) }

// Struggles reports that an environment has applied a revision and is not ready with it.
func (s *World) Struggles(env, revision string) { s.report(env, revision, false) }

func (s *World) report(env, revision string, ready bool) {
	c := s.Client()
	if there := s.remote[env]; there != nil {
		c = there.Client()
	}
	s.setStatus(c, App(env), ready, "Reported", "Applied revision: "+revision,
		map[string]any{"lastAppliedRevision": revision})
}

// setStatus writes an object's Ready condition, and more of its status.
func (s *World) setStatus(c client.Client, obj client.Object, ready bool, reason, message string, more map[string]any) {
	is := map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionFalse}
	more["conditions"] = []metav1.Condition{{Type: v1alpha1.ReadyCondition, Status: is[ready], Reason: reason,
		Message: message, LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second))}}
	patch, err := json.Marshal(map[string]any{"status": more})
	if err == nil {
		err = c.Status().Patch(s.Context(), obj, client.RawPatch(types.MergePatchType, patch))
	}
	worlds.Must(err, "writing the status of %s", obj.GetName())
}

// Deliver merges every open pull request, oldest first, and lets the environments run what was
// merged.
func (s *World) Deliver() {
	for i := range s.Git.PullRequests() {
		pr := s.Git.PullRequests()[i] // as it is now: the operator may have closed it since the last one was merged
		if pr.State != forge.Open {
			continue
		}
		worlds.Must(s.Git.Merge(pr.Number), "merging %d", pr.Number)
		s.Runs(pr.Order.Environment, pr.Order.Revision)
		if s.Doubled {
			s.Runs(second(pr.Order.Environment), pr.Order.Revision)
		}
	}
}

// App is the application web in one environment.
func App(env string) *unstructured.Unstructured {
	return object(appKind, env, "web", map[string]any{"path": "./" + env, "prune": true})
}

var appKind = schema.GroupVersionKind{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}

func object(kind schema.GroupVersionKind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}

// Pipeline is shop/web, through the given environments, by pull requests.
func Pipeline(environments ...string) *v1alpha1.Pipeline {
	p := &v1alpha1.Pipeline{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}
	p.Spec.AppRef = v1alpha1.LocalAppReference{APIVersion: appKind.GroupVersion().String(), Kind: appKind.Kind,
		Name: "web"}
	p.Spec.Promotion = &v1alpha1.PromotionPolicy{Strategy: v1alpha1.Strategy{
		PullRequest: &v1alpha1.PullRequestStrategy{Type: "github", URL: "https://" + gitHost + "/acme/shop",
			BaseBranch: "main"}}}
	for _, env := range environments {
		p.Spec.Environments = append(p.Spec.Environments, v1alpha1.Environment{
			Name: env, Targets: []v1alpha1.Target{{Namespace: env}},
		})
	}
	return p
}

// in is a pipeline with another repository.
func in(repository string, p *v1alpha1.Pipeline) *v1alpha1.Pipeline {
	p.Spec.Promotion.Strategy.PullRequest.URL = "https://" + gitHost + "/acme/" + repository
	return p
}

// edited is the pipeline through dev and staging with another spec.
func edited(edit func(*v1alpha1.PipelineSpec)) *v1alpha1.Pipeline {
	p := Pipeline("dev", "staging")
	edit(&p.Spec)
	return p
}

// second is the namespace of an environment's second target.
func second(env string) string { return env + "-2" }

// doubled gives every environment of a pipeline a second target, in the cluster that is named, or
// in the operator's own.
func doubled(p *v1alpha1.Pipeline, cluster *v1alpha1.CrossNamespaceClusterReference) *v1alpha1.Pipeline {
	for i := range p.Spec.Environments {
		e := &p.Spec.Environments[i]
		e.Targets = append(e.Targets, v1alpha1.Target{Namespace: second(e.Name), ClusterRef: cluster})
	}
	return p
}

// named is a pipeline of another name.
func named(name string, environments ...string) *v1alpha1.Pipeline {
	p := Pipeline(environments...)
	p.Name = name
	return p
}

// away is the name of the GitopsCluster that the workloads use.
const away = "away"

// dial reaches other clusters the way that the process reaches everything outside.
func dial(mgr ctrl.Manager) func([]byte) (*rest.Config, error) {
	return func(kubeconfig []byte) (*rest.Config, error) {
		cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
		if err == nil {
			cfg.Transport, cfg.QPS = sim.HTTPClient(mgr).Transport, -1
		}
		return cfg, err
	}
}

// Elsewhere adds an API server with namespaces.
func (s *World) Elsewhere(host string, namespaces ...string) *sim.Cluster {
	c := s.Cluster(host)
	c.Install(crds)
	s.hosts[away] = host
	for _, namespace := range namespaces {
		c.Apply(worlds.Namespace(namespace))
		s.remote[namespace] = c
	}
	return c
}

// farPipeline is the pipeline through dev and prod, which is in the other cluster.
func farPipeline() *v1alpha1.Pipeline {
	p := Pipeline("dev", "prod")
	p.Spec.Environments[1].Targets[0].ClusterRef = otherCluster()
	return p
}

// otherCluster is how a target names the other cluster.
func otherCluster() *v1alpha1.CrossNamespaceClusterReference {
	return &v1alpha1.CrossNamespaceClusterReference{Kind: promotion.GitopsCluster.Kind, Name: away}
}

// gitopsCluster is the object by which the operator knows the other cluster.
func gitopsCluster() *unstructured.Unstructured {
	return object(promotion.GitopsCluster, "shop", away, map[string]any{"secretRef": map[string]any{"name": away}})
}

// kubeconfig is the Secret that says where the other cluster is.
func kubeconfig(host string) *corev1.Secret {
	config := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "away",
		"contexts": [{"name": "away", "context": {"cluster": "away"}}],
		"clusters": [{"name": "away", "cluster": {"server": "http://%s"}}]}`, host)
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: away},
		Data: map[string][]byte{"kubeconfig": []byte(config)}}
}
