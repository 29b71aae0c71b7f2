package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/deployed"
	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/rbac"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// rights are the rights that processes have by their deployments.
type rights struct {
	*core
	authorizer *rbac.Authorizer
	deployed   []*process.Process
	applied    map[*deployed.Deployment]bool
	elects     bool // one of the processes elects a leader
	read       int  // events that were read
}

// deploy reads how a process is deployed and creates what that needs. It sets the account that the
// process runs as. An upgrade replaces what is there.
func (r *rights) deploy(name string, o *ProcessOptions, upgrade bool) {
	if len(o.Deployed) == 0 {
		return
	}
	as := ""
	if o.As != nil {
		as = *o.As
	}
	d, err := deployed.Read(as, o.Deployed...)
	if err != nil {
		r.misuse("process %q: sim.AsDeployed: %v", name, err)
	}
	o.As = &d.Account
	if r.applied[d] && !upgrade {
		return
	}
	for _, obj := range d.Objects {
		if err := r.create(obj, upgrade); err != nil {
			r.misuse("process %q: sim.AsDeployed: %s: %v", name, obj, err)
		}
	}
	if r.applied == nil {
		r.applied = map[*deployed.Deployment]bool{}
	}
	r.applied[d] = true
}

// create creates an object in one step, as an installation of the operator does. One that is there
// is replaced or stays as it is.
func (r *rights) create(obj deployed.Object, replace bool) error {
	gv, err := schema.ParseGroupVersion(obj.APIVersion())
	if err != nil {
		return err
	}
	gk := schema.GroupKind{Group: gv.Group, Kind: obj.Kind()}
	mapping, err := r.wire.Mapper().RESTMapping(gk, gv.Version)
	if err != nil {
		return err
	}
	resource := mapping.Resource
	path := "/apis/" + resource.Group
	if resource.Group == "" {
		path = "/api"
	}
	path += "/" + resource.Version
	if in := obj.Namespace(); in != "" && obj.Kind() != "Namespace" {
		path += "/namespaces/" + in
	}
	body, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	write := func(method, path string) *apiserver.Response {
		return r.wire.Write(run.User, apiserver.Request{Method: method, URL: &url.URL{Path: path}, Body: body,
			User: "admin", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}})
	}
	path += "/" + resource.Resource
	resp := write(http.MethodPost, path)
	if resp.Code == http.StatusConflict && replace {
		resp = write(http.MethodPut, path+"/"+obj.Name())
	}
	if resp.Code >= http.StatusBadRequest && resp.Code != http.StatusConflict {
		return fmt.Errorf("%s", messageOf(resp.Body))
	}
	return nil
}

// messageOf is the message of a Status.
func messageOf(body []byte) string {
	var s metav1.Status
	if json.Unmarshal(body, &s) != nil {
		return ""
	}
	return s.Message
}

// judge has the default property judge a process that is deployed.
func (r *rights) judge(p *process.Process, o ProcessOptions) {
	if len(o.Deployed) > 0 && !slices.Contains(r.deployed, p) {
		r.deployed = append(r.deployed, p)
	}
	r.elects = r.elects || len(o.Deployed) > 0 && o.Manager.LeaderElection
}

// missingPermission is the default property: no request of a process was refused because its
// deployment gives it no right to it.
func (r *rights) missingPermission(h *history.History) error {
	if len(r.deployed) == 0 {
		r.read = h.Len()
		return nil
	}
	events := h.Since(r.read)
	r.read = h.Len()
	for i := range events {
		e := &events[i]
		if e.Kind != history.Request || e.Code != http.StatusForbidden || e.Injected || e.Ref.Cluster != "" {
			continue
		}
		at := slices.IndexFunc(r.deployed, func(p *process.Process) bool { return p.Name == e.Process })
		if at < 0 {
			continue
		}
		if err := r.refusal(r.deployed[at], e); err != nil {
			return err
		}
	}
	return nil
}

// refusal says which right a process lacks for a request; nil if it was refused for another reason.
func (r *rights) refusal(p *process.Process, e *history.Event) error {
	name, groups := p.User()
	message := messageOf(e.Received)
	line := e.Source
	if line == "" {
		line = p.ReaderOf(e.Ref.Kind)
	}
	if line != "" {
		line = "\nthe request is sent at " + line
	}
	what := e.Ref.Kind
	if e.Sub != "" {
		what += "/" + e.Sub
	}
	if _, lacks, ok := strings.Cut(message, "is attempting to grant RBAC permissions not currently held:\n"); ok {
		ref := history.Ref{Namespace: e.Ref.Namespace, Name: e.Ref.Name}
		return fmt.Errorf("%s may not %s %s %s: it grants rights that ServiceAccount %s does not have%s\n"+
			"add a marker with these rights, or with the verb %s:\n%s", p.Name, e.Verb, what, ref, p.Account(), line,
			grantVerb(e), lacks)
	}
	if !strings.Contains(message, fmt.Sprintf("User %q cannot %s ", name, e.Verb)) {
		return nil // it acted for another user, or admission refused it
	}
	resource := r.resourceOf(e.Ref)
	why := func(verb string) string {
		return r.authorizer.Missing(&apiserver.Request{User: name, Groups: groups}, apiserver.Info{
			Verb: verb, Group: e.Ref.Group, Resource: resource, Subresource: e.Sub, Namespace: e.Ref.Namespace,
			Name: e.Ref.Name})
	}
	if why(e.Verb) == "" {
		return nil // roles have changed since
	}
	verb, verbs := e.Verb, []string{e.Verb}
	if verb == "list" || verb == "watch" { // caches need both, and list by a watch
		verbs = slices.DeleteFunc([]string{"get", "list", "watch"}, func(v string) bool { return why(v) == "" })
		if slices.Contains(verbs, "list") {
			verb = "list"
		}
	}
	lacks := why(verb)
	add := marker(e, resource, verbs)
	if strings.Contains(lacks, "Role "+e.Ref.Namespace+"/") && !strings.Contains(lacks, "ClusterRole ") {
		add += ",namespace=" + e.Ref.Namespace // controller-gen adds the rule to a Role there
	}
	return fmt.Errorf("%s may not %s %s: %s%s\nadd %s", p.Name, verb, what, lacks, line, add)
}

// marker is the marker from which controller-gen makes the rule that is missing.
func marker(e *history.Event, resource string, verbs []string) string {
	group := e.Ref.Group
	if group == "" {
		group = `""`
	}
	if e.Sub != "" {
		resource += "/" + e.Sub
	}
	return fmt.Sprintf("// +kubebuilder:rbac:groups=%s,resources=%s,verbs=%s", group, resource,
		strings.Join(verbs, ";"))
}

// grantVerb is the right by which one may grant more than one has.
func grantVerb(e *history.Event) string {
	var sent struct{ RoleRef struct{ Kind, Name string } }
	if strings.HasSuffix(e.Ref.Kind, "Binding") && json.Unmarshal(e.Sent, &sent) == nil {
		return fmt.Sprintf("bind for %s %s", sent.RoleRef.Kind, sent.RoleRef.Name)
	}
	return "escalate for " + e.Ref.Kind
}

// resourceOf is what a kind is called in rules.
func (r *rights) resourceOf(ref history.Ref) string {
	m, err := r.wire.Mapper().RESTMapping(schema.GroupKind{Group: ref.Group, Kind: ref.Kind})
	if err != nil {
		return strings.ToLower(ref.Kind) // of a kind that is not served, the event has the resource
	}
	return m.Resource.Resource
}

// unusedRights are the rights of deployments that no request of the run has needed; nil if no
// process has such rights. Those that a run may not need are left out: for the metrics
// endpoint, for events, for setting owners on OpenShift, and for leader election if there is none.
func (r *rights) unusedRights() *story.Rights {
	if len(r.deployed) == 0 {
		return nil
	}
	out := &story.Rights{}
	for _, p := range r.deployed {
		name, groups := p.User()
		for _, unused := range r.authorizer.Unused(name, groups) {
			switch _, sub, _ := strings.Cut(unused.Resource, "/"); {
			case unused.Resource == "events", sub == "finalizers":
			case unused.Group == "authentication.k8s.io", unused.Group == "authorization.k8s.io":
			case !r.elects && strings.Contains(unused.Role, "leader"):
			case !slices.Contains(out.Unused, story.Right(unused)):
				out.Unused = append(out.Unused, story.Right(unused))
			}
		}
	}
	return out
}
