// Package user is the scenario's own client: it knows the schemes of all processes, and applies
// objects as kubectl does.
package user

import (
	"context"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// baseSchemes are those that a client knows from the start. Programs without a manager add their
// types to the second.
var baseSchemes = []*runtime.Scheme{baseScheme(), clientgoscheme.Scheme}

func baseScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(s)
	_ = apiextensionsv1.AddToScheme(s)
	return s
}

// SchemeHint says where a scheme comes from, after an error that complains of one.
func SchemeHint(err error) string {
	if !runtime.IsNotRegisteredError(err) {
		return ""
	}
	return "; the scheme of your main comes with sim.Options(ctrl.Options{Scheme: scheme}), " +
		"and w.Apply knows it when the process has been started"
}

// Client is the scenario's client of one cluster. For each object it picks a client whose scheme
// knows the object.
type Client struct {
	// Host is the host of the API server.
	Host string

	config  *rest.Config
	http    *http.Client
	mapper  meta.RESTMapper
	schemes []*runtime.Scheme
	clients map[*runtime.Scheme]client.Client
}

func newClient(host string, transport http.RoundTripper, mapper meta.RESTMapper) *Client {
	return &Client{
		Host: host,
		config: &rest.Config{Host: "http://" + host, Transport: transport, QPS: -1, ContentConfig: rest.ContentConfig{
			ContentType: "application/json", AcceptContentTypes: "application/json",
		}},
		http: &http.Client{Transport: transport}, mapper: mapper,
		schemes: slices.Clone(baseSchemes), clients: map[*runtime.Scheme]client.Client{},
	}
}

// Describe names an object in messages.
func (c *Client) Describe(obj client.Object) string {
	kind := ""
	if gvk, err := c.GroupVersionKindFor(obj); err == nil {
		kind = gvk.Kind + " "
	}
	return kind + client.ObjectKeyFromObject(obj).String()
}

// Know adds a scheme. The scheme that was added last comes first.
func (c *Client) Know(s *runtime.Scheme) {
	if !slices.Contains(c.schemes, s) {
		c.schemes = slices.Insert(c.schemes, 0, s)
	}
}

// KnowAsWell adds the schemes of another client.
func (c *Client) KnowAsWell(o *Client) {
	for _, s := range o.schemes {
		c.Know(s)
	}
}

// of picks the client for an object. An object of an unknown kind goes to the first client, whose
// error says so.
func (c *Client) of(obj runtime.Object) client.Client {
	scheme := c.schemes[0]
	for _, s := range c.schemes {
		if _, _, err := s.ObjectKinds(obj); err == nil {
			scheme = s
			break
		}
	}
	made := c.clients[scheme]
	if made == nil {
		var err error
		made, err = client.New(c.config, client.Options{HTTPClient: c.http, Scheme: scheme, Mapper: c.mapper})
		if err != nil {
			panic("sim: making the user's client: " + err.Error()) // nothing of it comes from outside
		}
		c.clients[scheme] = made
	}
	return made
}

// Get implements [client.Client].
func (c *Client) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.of(obj).Get(ctx, key, obj, opts...)
}

// List implements [client.Client].
func (c *Client) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return c.of(list).List(ctx, list, opts...)
}

// Apply implements [client.Client].
func (c *Client) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.of(&metav1.Status{}).Apply(ctx, obj, opts...)
}

// Create implements [client.Client].
func (c *Client) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.of(obj).Create(ctx, obj, opts...)
}

// Delete implements [client.Client].
func (c *Client) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.of(obj).Delete(ctx, obj, opts...)
}

// Update implements [client.Client].
func (c *Client) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return c.of(obj).Update(ctx, obj, opts...)
}

// Patch implements [client.Client].
func (c *Client) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.of(obj).Patch(ctx, obj, patch, opts...)
}

// DeleteAllOf implements [client.Client].
func (c *Client) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	return c.of(obj).DeleteAllOf(ctx, obj, opts...)
}

// Status implements [client.Client].
func (c *Client) Status() client.SubResourceWriter { return c.SubResource("status") }

// SubResource implements [client.Client].
func (c *Client) SubResource(name string) client.SubResourceClient {
	return &subResource{c, name}
}

// Scheme implements [client.Client].
func (c *Client) Scheme() *runtime.Scheme { return c.schemes[0] }

// RESTMapper implements [client.Client].
func (c *Client) RESTMapper() meta.RESTMapper { return c.mapper }

// GroupVersionKindFor implements [client.Client].
func (c *Client) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	var err error
	for _, s := range c.schemes {
		var gvk schema.GroupVersionKind
		if gvk, err = apiutil.GVKForObject(obj, s); err == nil {
			return gvk, nil
		}
	}
	return schema.GroupVersionKind{}, err
}

// Typed is an empty object of the type that a program has for a kind; nil if none has one.
func (c *Client) Typed(gvk schema.GroupVersionKind) runtime.Object {
	for _, s := range c.schemes {
		if typed, err := s.New(gvk); err == nil {
			return typed
		}
	}
	return nil
}

// IsObjectNamespaced implements [client.Client].
func (c *Client) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	return c.of(obj).IsObjectNamespaced(obj)
}

type subResource struct {
	u    *Client
	name string
}

func (s *subResource) Get(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceGetOption) error {
	return s.u.of(obj).SubResource(s.name).Get(ctx, obj, sub, opts...)
}

func (s *subResource) Create(
	ctx context.Context, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
	return s.u.of(obj).SubResource(s.name).Create(ctx, obj, sub, opts...)
}

func (s *subResource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.u.of(obj).SubResource(s.name).Update(ctx, obj, opts...)
}

func (s *subResource) Patch(
	ctx context.Context, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.u.of(obj).SubResource(s.name).Patch(ctx, obj, p, opts...)
}

func (s *subResource) Apply(
	ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	return s.u.of(&metav1.Status{}).SubResource(s.name).Apply(ctx, obj, opts...)
}
