// This file puts Helm on a controller's own connection to the API server, at the cost of
// one connection and one look at discovery for a process.

package release

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/kube"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/kubectl/pkg/validation"
	"k8s.io/utils/lru"
)

// FieldManager is the name under which Helm writes. Helm's own default is the name of the program's
// file.
const FieldManager = "helm"

func init() { kube.ManagedFieldsManager = FieldManager }

// fewManifests are remembered by a process; they may be a megabyte each.
const fewManifests = 16

// Clients is Helm's access to one cluster. Make one for each process.
type Clients struct {
	// Marked is for [Marks]: what came of the last few manifests.
	Marked *lru.Cache

	config    *rest.Config
	mapper    meta.RESTMapper
	set       *kubernetes.Clientset
	discovery discovery.CachedDiscoveryInterface

	mu           sync.Mutex
	capabilities *chartutil.Capabilities
}

// NewClients makes the clients of a process from what its manager has: mgr.GetConfig() and
// mgr.GetRESTMapper().
func NewClients(config *rest.Config, mapper meta.RESTMapper) (*Clients, error) {
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making Helm's clients: %w", err)
	}
	discovery := memory.NewMemCacheClient(set.Discovery())
	return &Clients{Marked: lru.New(fewManifests), config: config, mapper: mapper, set: set, discovery: discovery}, nil
}

// Capabilities are what charts are told of the cluster. They are read once for each process; Helm
// alone would read them for every action. A chart that asks for kinds which were installed since
// then is told that they are not there.
func (c *Clients) Capabilities() (*chartutil.Capabilities, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.capabilities != nil {
		return c.capabilities, nil
	}
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("reading the version of the server: %w", err)
	}
	kinds, err := action.GetVersionSet(c.discovery)
	if err != nil {
		return nil, err
	}
	c.capabilities = &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: version.GitVersion, Major: version.Major, Minor: version.Minor},
		APIVersions: kinds, HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}
	return c.capabilities, nil
}

// Secrets is a client of the Secrets of one namespace, for the driver that keeps the release
// records.
func (c *Clients) Secrets(ctx context.Context, namespace string) (corev1client.SecretInterface, error) {
	client, err := corev1client.NewForConfig(c.carrying(ctx))
	if err != nil {
		return nil, err
	}
	return client.Secrets(namespace), nil
}

// Configuration is what Helm's actions need, for releases in one namespace whose records the driver
// keeps.
func (c *Clients) Configuration(
	ctx context.Context, namespace string, records driver.Driver,
) (*action.Configuration, error) {
	capabilities, err := c.Capabilities()
	if err != nil {
		return nil, err
	}
	g := &getter{clients: c, config: c.carrying(ctx), namespace: namespace}
	return &action.Configuration{
		RESTClientGetter: g,
		KubeClient:       &kube.Client{Factory: g, Log: func(string, ...any) {}, Namespace: namespace},
		Releases:         storage.Init(records),
		Capabilities:     capabilities,
		Log:              func(string, ...any) {},
	}, nil
}

// carrying is the connection with the context's values on each of its requests.
func (c *Clients) carrying(ctx context.Context) *rest.Config {
	config := rest.CopyConfig(c.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &carrier{next, ctx} })
	return config
}

// carrier gives each request the values of a context, but not its end.
type carrier struct {
	next   http.RoundTripper
	values context.Context
}

// RoundTrip implements http.RoundTripper.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	return c.next.RoundTrip(r.WithContext(&valued{r.Context(), c.values}))
}

// valued is a context that looks up in a second one what it does not know itself.
type valued struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (v *valued) Value(key any) any {
	if own := v.Context.Value(key); own != nil {
		return own
	}
	return v.values.Value(key)
}

// getter is how Helm and its copy of kubectl ask for clients. It implements kube.Factory and
// action.RESTClientGetter.
type getter struct {
	clients   *Clients
	config    *rest.Config
	namespace string
}

// ToRESTConfig implements action.RESTClientGetter.
func (g *getter) ToRESTConfig() (*rest.Config, error) { return rest.CopyConfig(g.config), nil }

// ToRESTMapper implements action.RESTClientGetter.
func (g *getter) ToRESTMapper() (meta.RESTMapper, error) { return g.clients.mapper, nil }

// ToDiscoveryClient implements action.RESTClientGetter.
func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.clients.discovery, nil
}

// ToRawKubeConfigLoader implements kube.Factory.
func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(clientcmdapi.Config{},
		&clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}})
}

// DynamicClient implements kube.Factory.
func (g *getter) DynamicClient() (dynamic.Interface, error) { return dynamic.NewForConfig(g.config) }

// KubernetesClientSet implements kube.Factory.
func (g *getter) KubernetesClientSet() (*kubernetes.Clientset, error) { return g.clients.set, nil }

// NewBuilder implements kube.Factory.
func (g *getter) NewBuilder() *resource.Builder { return resource.NewBuilder(g) }

// Validator implements kube.Factory. The server judges what it is sent; nothing is asked of its
// OpenAPI before.
func (g *getter) Validator(string) (validation.Schema, error) { return validation.NullSchema{}, nil }
