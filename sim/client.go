package sim

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
)

// userName is the process name under which the scenario's own requests are recorded.
const userName = "user"

func baseScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(s)
	_ = apiextensionsv1.AddToScheme(s)
	return s
}

// insistence is how long the user goes on with a write that a webhook does not answer, and then once more without faults.
const insistence = 10 * time.Minute

// insist does what people and GitOps tools do when the webhook of an operator is away, as it is before its process has started, after a
// crash and under a fault: they try again, here every second. Faults may keep a correct operator's webhook away for as long as
// they strike, so in the end they stop, as in Settle.
func (w *World) insist(write func() error) error {
	limit := w.sched.Now() + insistence
	for mended := false; ; w.Sleep(time.Second) {
		err := write()
		late := w.sched.Now() > limit
		switch {
		case err == nil || !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), admission.Unanswered):
			return err
		case late && !mended && w.faults.Armed():
			mended, limit = true, limit+insistence
			w.heal()
			defer w.strike()
		case late:
			return fmt.Errorf("it was tried for %v without faults: %w", insistence, err)
		}
	}
}

// schemeHint says where a scheme comes from, after an error that complains of one.
func schemeHint(err error) string {
	if !runtime.IsNotRegisteredError(err) {
		return ""
	}
	return "; the scheme of your main comes with sim.Options(ctrl.Options{Scheme: scheme}), and w.Apply knows it when the process has been started"
}

// Remove deletes the objects; those that are gone already are fine. A webhook that does not answer is asked again, as by [World.Apply].
func (w *World) Remove(objs ...client.Object) { w.remove(w.user, objs) }

func (w *World) remove(user *userClient, objs []client.Object) {
	w.alive()
	for _, obj := range objs {
		if err := w.insist(func() error { return client.IgnoreNotFound(user.Delete(w.ctx, obj)) }); err != nil {
			w.misuse("w.Remove of %s: %v", describe(obj, user), err)
		}
		user.drop(obj)
	}
}

func describe(obj client.Object, u *userClient) string {
	kind := ""
	if gvk, err := u.GroupVersionKindFor(obj); err == nil {
		kind = gvk.Kind + " "
	}
	return kind + client.ObjectKeyFromObject(obj).String()
}

// userClient is the scenario's client. It knows the schemes of all processes and picks, for each object, a client whose
// scheme knows it.
type userClient struct {
	cfg     *rest.Config
	http    *http.Client
	mapper  meta.RESTMapper
	schemes []*runtime.Scheme
	clients map[*runtime.Scheme]client.Client
	applied map[string]lastApplied // by group, kind and name
	// declared are the definitions and webhook configurations that the scenario has given the cluster.
	declared map[definitionKey]definition
	sent     []sent // what Apply and ApplyServerSide were given last
}

func newUserClient(w *World, host string, server *apiserver.Server) *userClient {
	port := w.wire.NewPort(userName, 0)
	port.User, port.Groups = "admin", []string{"system:masters", "system:authenticated"}
	port.Drive = w.drive
	port.Direct = func() bool { return w.judging }
	cfg := &rest.Config{
		Host: "http://" + host, Transport: port, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
	}
	return &userClient{
		cfg: cfg, http: &http.Client{Transport: port}, mapper: server.Mapper(),
		schemes: append([]*runtime.Scheme(nil), baseSchemes...), clients: map[*runtime.Scheme]client.Client{},
		applied: map[string]lastApplied{}, declared: map[definitionKey]definition{},
	}
}

func (u *userClient) know(s *runtime.Scheme) {
	for _, known := range u.schemes {
		if known == s {
			return
		}
	}
	u.schemes = append([]*runtime.Scheme{s}, u.schemes...)
}

// of picks the client for an object. An object that nobody knows goes to the first client, whose error says so.
func (u *userClient) of(obj runtime.Object) client.Client {
	scheme := u.schemes[0]
	for _, s := range u.schemes {
		if _, _, err := s.ObjectKinds(obj); err == nil {
			scheme = s
			break
		}
	}
	c := u.clients[scheme]
	if c == nil {
		var err error
		c, err = client.New(u.cfg, client.Options{HTTPClient: u.http, Scheme: scheme, Mapper: u.mapper})
		if err != nil {
			panic("sim: making the user's client: " + err.Error()) // nothing of it comes from outside
		}
		u.clients[scheme] = c
	}
	return c
}

// The methods of client.Client, each passed to the client that knows the object.

func (u *userClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return u.of(obj).Get(ctx, key, obj, opts...)
}

func (u *userClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return u.of(list).List(ctx, list, opts...)
}

func (u *userClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return u.of(&metav1.Status{}).Apply(ctx, obj, opts...)
}

func (u *userClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return u.of(obj).Create(ctx, obj, opts...)
}

func (u *userClient) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return u.of(obj).Delete(ctx, obj, opts...)
}

func (u *userClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return u.of(obj).Update(ctx, obj, opts...)
}

func (u *userClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return u.of(obj).Patch(ctx, obj, patch, opts...)
}

func (u *userClient) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	return u.of(obj).DeleteAllOf(ctx, obj, opts...)
}

func (u *userClient) Status() client.SubResourceWriter { return u.SubResource("status") }

func (u *userClient) SubResource(name string) client.SubResourceClient {
	return &userSubResource{u, name}
}

func (u *userClient) Scheme() *runtime.Scheme { return u.schemes[0] }

func (u *userClient) RESTMapper() meta.RESTMapper { return u.mapper }

func (u *userClient) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	var err error
	for _, s := range u.schemes {
		var gvk schema.GroupVersionKind
		if gvk, err = apiutil.GVKForObject(obj, s); err == nil {
			return gvk, nil
		}
	}
	return schema.GroupVersionKind{}, err
}

func (u *userClient) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	return u.of(obj).IsObjectNamespaced(obj)
}

type userSubResource struct {
	u    *userClient
	name string
}

func (s *userSubResource) Get(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceGetOption) error {
	return s.u.of(obj).SubResource(s.name).Get(ctx, obj, sub, opts...)
}

func (s *userSubResource) Create(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
	return s.u.of(obj).SubResource(s.name).Create(ctx, obj, sub, opts...)
}

func (s *userSubResource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return s.u.of(obj).SubResource(s.name).Update(ctx, obj, opts...)
}

func (s *userSubResource) Patch(ctx context.Context, obj client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
	return s.u.of(obj).SubResource(s.name).Patch(ctx, obj, p, opts...)
}

func (s *userSubResource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	return s.u.of(&metav1.Status{}).SubResource(s.name).Apply(ctx, obj, opts...)
}
