// This file exists for environments in other clusters: an API server of their own, the
// GitopsCluster by which the operator knows it, and the Secret that says where it is.

package promotion

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	ctrl "sigs.k8s.io/controller-runtime"

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

// Elsewhere adds an API server with namespaces.
func (s *World) Elsewhere(host string, namespaces ...string) *sim.Cluster {
	c := s.Cluster(host)
	c.Install(crds)
	s.hosts[away] = host
	for _, namespace := range namespaces {
		c.Apply(Namespace(namespace))
		s.remote[namespace] = c.Client()
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
	s.setStatus(s.Client(), gitopsCluster(), true, "Found", message, map[string]any{})
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
