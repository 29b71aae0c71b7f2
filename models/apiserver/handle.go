package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/store"
)

// maxBody is kube-apiserver's limit on a request body (staging/src/k8s.io/apiserver/pkg/server/config.go).
const maxBody = 3 * 1024 * 1024

// Server is one API server and its store. It is not safe for concurrent use: the owner serialises requests, which is
// also what makes one request atomic.
type Server struct {
	options  Options
	store    *store.Store[*object]
	registry registry
	dice     dice
	// authorizer judges every request; nil for a server that serves everybody.
	authorizer Authorizer
	// admission judges every write; nil for a server that takes everything. reach calls its webhooks.
	admission Admission
	reach     func(*WebhookCall) WebhookAnswer
	// addresses and nodePorts count what services have been given.
	addresses, nodePorts int
}

// New returns a server with the built-in types and the namespaces that every cluster starts with.
func New(o Options) *Server {
	if o.Now == nil {
		panic("apiserver: Options.Now is required")
	}
	s := &Server{
		options:  o,
		store:    store.New[*object](0),
		registry: registry{custom: map[string]*kind{}},
		dice:     dice{seed: o.Seed},
	}
	s.bootstrap()
	return s
}

// call is one request on its way through the server.
type call struct {
	s        *Server
	req      *Request
	query    url.Values
	info     Info
	kind     *kind
	ver      *version
	accepted view
	tabular  bool // the reply is to be a table
	warnings []string
	changes  []Change
	dryRun   bool
	// manager is the request's fieldManager; force and applied are for server-side apply.
	manager        string
	force, applied bool
	// creates says that an update or an apply has found nothing and creates the object.
	creates bool
	// plainJSON says that an applied configuration is JSON without repeated fields.
	plainJSON bool
	// scaled is the ownership of an object after an apply to its scale.
	scaled []metav1.ManagedFieldsEntry
	// validation is what to do about unknown and repeated fields: Ignore, Warn or Strict.
	validation string
	// authorized says that the request has been judged, by whomever there is to judge it.
	authorized bool
	// ask calls webhooks and waits for them; waited says that it has, and turns counts their answers.
	ask    func([]*WebhookCall)
	waited bool
	turns  int
	// terminating is set while a definition's instances are deleted with it.
	terminating bool
}

func (c *call) handle() (*Response, error) {
	info, ok := ParseInfo(c.req.Method, c.req.URL)
	c.info = info
	if err := c.authorize(); err != nil {
		return nil, err
	}
	if !ok {
		return c.handleOther()
	}
	c.query = queryOf(c.req.URL)
	if err := c.resolve(); err != nil {
		return nil, err
	}
	if err := c.negotiate(); err != nil {
		return nil, err
	}
	if len(c.req.Body) > maxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxBody))
	}
	if c.ver.warning != "" {
		c.warn(c.ver.warning)
	}
	if info.Subresource != "" {
		return c.handleSubresource()
	}
	switch info.Verb {
	case "get":
		return c.get()
	case "list":
		return c.list()
	case "watch":
		return c.watch()
	case "create":
		if c.kind.group == reviewGroup {
			return c.review()
		}
		return c.create()
	case "update":
		return c.update("")
	case "patch":
		return c.patch("")
	case "delete":
		return c.delete()
	case "deletecollection":
		return c.deleteCollection()
	}
	return nil, errNoSuchVerb
}

// resolve finds the kind and version that the request names and refuses paths that a real server does not route: an
// unknown group is an unknown path, within a known group it is an unknown resource.
func (c *call) resolve() error {
	c.kind = c.s.registry.byResource(c.info.Group, c.info.Resource)
	if c.kind == nil {
		return c.noRoute()
	}
	if c.ver = c.kind.version(c.info.Version); c.ver == nil {
		return c.noRoute()
	}
	if c.req.Method == http.MethodHead {
		return errNoSuchVerb
	}
	if !c.kind.namespaced && c.info.Namespace != "" {
		return c.noRoute()
	}
	collection := c.info.Name == "" || c.info.Verb == "list" || c.info.Verb == "watch"
	if c.kind.namespaced && c.info.Namespace == "" && c.info.Verb != "list" && c.info.Verb != "watch" {
		if c.kind.builtin != nil && collection {
			return errNoSuchVerb
		}
		return c.noRoute()
	}
	if c.info.Subresource != "" {
		return nil
	}
	if c.kind.builtin == nil && c.info.Verb == "create" && c.info.Name != "" {
		return apierrors.NewMethodNotSupported(c.kind.groupResource(), c.info.Verb)
	}
	onCollection := slices.Contains([]string{"create", "list", "watch", "deletecollection"}, c.info.Verb)
	if collection != onCollection || !c.kind.allows(c.info.Verb) {
		return errNoSuchVerb
	}
	return nil
}

func (c *call) noRoute() error {
	if slices.Contains(unmodelled[c.info.Group], c.info.Resource) {
		return notModelled("%s of group %q", c.info.Resource, c.info.Group)
	}
	if c.info.Group == "autoscaling" && c.info.Version == "v1" {
		return notModelled("autoscaling/v1: use autoscaling/v2")
	}
	for _, k := range builtinKinds().order {
		if k.group == c.info.Group {
			return errNoSuchResource
		}
	}
	return errNoSuchPath
}

func (c *call) handleSubresource() (*Response, error) {
	sub := c.ver.subresource(c.info.Subresource)
	if sub == nil {
		if c.kind.builtin == nil {
			return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
		}
		// A proxy's path goes on behind its name.
		if name, _, _ := strings.Cut(c.info.Subresource, "/"); slices.Contains(c.kind.builtin.unmodelled, name) {
			return nil, notModelled("subresource %q of %s", c.info.Subresource, c.kind.plural)
		}
		return nil, errNoSuchResource
	}
	if !slices.Contains(sub.verbs, c.info.Verb) {
		if c.kind.builtin == nil {
			return nil, apierrors.NewMethodNotSupported(c.kind.groupResource(), c.info.Verb)
		}
		return nil, errNoSuchVerb
	}
	if sub.scale != nil {
		return c.handleScale(sub)
	}
	if handler := subresourceHandlers[c.kind.plural+"/"+sub.name]; handler != nil {
		return handler(c)
	}
	switch c.info.Verb {
	case "get":
		return c.get()
	case "update":
		return c.update(sub.name)
	case "patch":
		return c.patch(sub.name)
	}
	return nil, notModelled("verb %s on subresource %q of %s", c.info.Verb, sub.name, c.kind.plural)
}

// subresourceHandlers serve the subresources that are neither a scale nor a part of the object.
var subresourceHandlers map[string]func(*call) (*Response, error)

func init() {
	subresourceHandlers = map[string]func(*call) (*Response, error){
		"namespaces/finalize": (*call).finalizeNamespace,
		"pods/binding":        (*call).bindPod,
	}
}

func (c *call) table() *store.Table[*object] { return c.s.store.Table(c.kind.table) }

func (c *call) lookup(name string) (*object, bool) {
	return c.table().Get(objectKey(c.info.Namespace, name))
}

func (c *call) resource() string { return c.kind.groupResource().String() }

func (c *call) warn(text string) {
	if !slices.Contains(c.warnings, text) {
		c.warnings = append(c.warnings, text)
	}
}

// warningHeader is the form of RFC 7234, section 5.5, as apimachinery's util/net/http.go makes it.
func warningHeader(text string) string {
	var b strings.Builder
	b.WriteString(`299 - "`)
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteByte(' ')
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// now is the clock's time as it goes into metadata: to the second, which is what survives the wire.
func (s *Server) now() time.Time { return s.options.Now().Truncate(time.Second) }

// objectResponse is the reply that carries one object.
func (c *call) objectResponse(code int, o *object) *Response {
	if c.tabular {
		return c.tableOf(metav1.ListMeta{ResourceVersion: o.meta.ResourceVersion}, []*object{o})
	}
	return &Response{Code: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: o.as(c.accepted).json}
}
