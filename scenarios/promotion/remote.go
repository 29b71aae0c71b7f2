// This file exists for environments in other clusters: an API server of their own, the
// GitopsCluster by which the operator knows it, and the Secret that says where it is.

package promotion

import (
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/sim"
)

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

// Elsewhere adds an API server with namespaces. From here on these are there, if the pipeline says
// so, too: see Away.
func (s *World) Elsewhere(host string, namespaces ...string) *sim.Cluster {
	c := s.Cluster(host)
	c.Install(crds)
	s.clusters[host] = away
	for _, namespace := range namespaces {
		c.Apply(Namespace(namespace))
		s.away[namespace] = c.Client()
	}
	return c
}

// Away puts an environment of a pipeline into the other cluster.
func Away(p *v1alpha1.Pipeline, env string) *v1alpha1.Pipeline {
	for i := range p.Spec.Environments {
		if e := &p.Spec.Environments[i]; e.Name == env {
			e.Targets[0].ClusterRef = otherCluster()
		}
	}
	return p
}

// otherCluster is how a target names the other cluster.
func otherCluster() *v1alpha1.CrossNamespaceClusterReference {
	return &v1alpha1.CrossNamespaceClusterReference{Kind: promotion.GitopsCluster.Kind, Name: away}
}

// gitopsCluster is the object by which the operator knows the other cluster.
func gitopsCluster() *unstructured.Unstructured {
	spec := map[string]any{"secretRef": map[string]any{"name": away}}
	obj := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	obj.SetGroupVersionKind(promotion.GitopsCluster)
	obj.SetNamespace("shop")
	obj.SetName(away)
	return obj
}

// clusterIsReady reports, as cluster-controller would, that the other cluster is ready.
func (s *World) clusterIsReady(message string) {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []metav1.Condition{{
		Type: v1alpha1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Found", Message: message,
		LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
	}}}})
	if err != nil {
		panic(err)
	}
	if err := s.Client().Status().Patch(s.Context(), gitopsCluster(),
		client.RawPatch(types.MergePatchType, patch)); err != nil {
		panic(fmt.Sprintf("reporting that the cluster is ready: %v", err))
	}
}

// kubeconfig is the Secret that says where the other cluster is.
func kubeconfig(host string) *corev1.Secret {
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters[away] = &clientcmdapi.Cluster{Server: "http://" + host}
	cfg.Contexts[away] = &clientcmdapi.Context{Cluster: away}
	cfg.CurrentContext = away
	data, err := clientcmd.Write(*cfg)
	if err != nil {
		panic(err)
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: away},
		Data: map[string][]byte{"kubeconfig": data}}
}

// Remote has an environment in a cluster that is made known only after the pipeline, and whose
// cache is not in sync when it is first asked.
var Remote = workload(between("dev", "prod"), askStatusIsTrue, becomesKnown)

func becomesKnown(s *World) {
	s.Elsewhere("prod.example", "prod").Apply(App("prod"))
	s.Runs("prod", "v1")
	s.Apply(Namespace("shop"), Namespace("dev"), App("dev"), Away(Pipeline("dev", "prod"), "prod"))
	s.Runs("dev", "v1")
	s.Sleep(time.Minute)
	s.Apply(gitopsCluster())
	s.clusterIsReady("connected")
	s.Sleep(time.Minute)
	s.Apply(kubeconfig("prod.example"))
	s.Settle()
}

// Moves has a cluster that moves to another host: its Secret changes, and nothing else shows
// of it.
var Moves = workload(between("dev", "prod"), askStatusIsTrue, func(s *World) {
	s.remotely("prod.example")
	s.Settle()
	s.Elsewhere("new.example", "prod").Apply(App("prod"))
	s.Runs("prod", "v1")
	s.Apply(kubeconfig("new.example"))
	s.Runs("prod", "v2")
	s.Settle()
})

// Faraway takes revisions to another cluster and back again, with every property that must hold of
// the fixed variant.
var Faraway = workload(between("dev", "prod"), (*World).holds, func(s *World) {
	s.remotely("prod.example")
	s.Settle()
	for _, revision := range []string{"v2", "v1"} {
		s.Runs("dev", revision)
		s.clusterIsReady("still connected while dev runs " + revision)
		s.Settle()
		s.Deliver()
		s.Settle()
	}
})

// remotely opens the story with everything at v1, and prod in another cluster.
func (s *World) remotely(host string) {
	s.Apply(Namespace("shop"), gitopsCluster(), kubeconfig(host), Namespace("dev"), App("dev"))
	s.clusterIsReady("connected")
	s.Elsewhere(host, "prod").Apply(App("prod"))
	s.Runs("dev", "v1")
	s.Runs("prod", "v1")
	s.Apply(Away(Pipeline("dev", "prod"), "prod"))
}
