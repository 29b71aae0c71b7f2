// This file lets Helm use a controller's own connection to the API server. Each process needs one
// connection, and reads discovery once.

package release

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

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
)

// fieldManager is the name under which Helm writes. Helm's own default is the name of the program's
// file.
const fieldManager = "helm"

func init() { kube.ManagedFieldsManager = fieldManager }

// Clients is Helm's access to one cluster. Make one for each process.
type Clients struct {
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
	return &Clients{config: config, mapper: mapper, set: set, discovery: discovery}, nil
}

// Records keep the records of a release, in Secrets: [Held] or [Chunked].
type Records interface {
	open(secrets corev1client.SecretInterface, of *Client) driver.Driver
}

// For makes a client of a release from its fields. Its records are in the namespace recordsIn.
func (c *Clients) For(ctx context.Context, of Client, recordsIn string, records Records) (*Client, error) {
	capabilities, err := c.readOnce()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(c.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &carrier{next, ctx, of.Holder.Until} })
	core, err := corev1client.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	g := &getter{clients: c, config: config, namespace: of.Namespace}
	of.Config = &action.Configuration{
		RESTClientGetter: g,
		KubeClient:       &kube.Client{Factory: g, Log: func(string, ...any) {}, Namespace: of.Namespace},
		Releases:         storage.Init(records.open(core.Secrets(recordsIn), &of)),
		Capabilities:     capabilities,
		Log:              func(string, ...any) {},
	}
	if of.Holder.Name != "" {
		of.timeout = time.Until(of.Holder.Until)
	}
	return &of, nil
}

// readOnce returns the capabilities of the cluster for charts. It reads them once for each process,
// and Helm would read them for every action. Charts do not see kinds that were installed since.
func (c *Clients) readOnce() (*chartutil.Capabilities, error) {
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

// carrier gives each request the values of a context, but not its cancellation. After its time it
// sends no more writes.
type carrier struct {
	next   http.RoundTripper
	values context.Context
	until  time.Time // zero is never
}

// RoundTrip implements http.RoundTripper.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	if !c.until.IsZero() && r.Method != http.MethodGet && Over(c.until) {
		if r.Body != nil {
			_ = r.Body.Close() // as http.RoundTripper demands, also of who refuses
		}
		return nil, ErrTooLate
	}
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

// getter is how Helm and its copy of kubectl ask for clients. It implements
// action.RESTClientGetter.
type getter struct {
	clients   *Clients
	config    *rest.Config
	namespace string
}

func (g *getter) ToRESTConfig() (*rest.Config, error)       { return rest.CopyConfig(g.config), nil }
func (g *getter) ToRESTMapper() (meta.RESTMapper, error)    { return g.clients.mapper, nil }
func (g *getter) DynamicClient() (dynamic.Interface, error) { return dynamic.NewForConfig(g.config) }
func (g *getter) NewBuilder() *resource.Builder             { return resource.NewBuilder(g) }

func (g *getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.clients.discovery, nil
}

func (g *getter) KubernetesClientSet() (*kubernetes.Clientset, error) { return g.clients.set, nil }

func (g *getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return clientcmd.NewDefaultClientConfig(clientcmdapi.Config{},
		&clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}})
}

// Validator implements kube.Factory. Only the server validates objects, not its OpenAPI.
func (g *getter) Validator(string) (validation.Schema, error) { return validation.NullSchema{}, nil }
