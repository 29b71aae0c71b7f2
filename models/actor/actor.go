// Package actor is the interface between the world and the built-in controllers of the simulated
// cluster: namespaces, garbage collector, workloads and others.
//
// An actor has no goroutine, no clock and no source of randomness. It observes every change that
// the store commits, and it asks for steps; each step is one action that the scheduler grants, in
// an order and after a latency that the run's choices decide. A step should do one write. Then
// anything may happen between two writes of an actor, as between two requests of a real controller.
//
// What an actor must remember it must be able to find again by listing, as the real controllers do:
// a world may start one when there is content already.
package actor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sort"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// Actor is one built-in controller. All its methods, and the steps that it asks for, are called on
// one goroutine.
type Actor interface {
	// Name is the name under which a world's history records it, for example
	// "namespace-controller". An actor that is added to a world replaces the one of the same name.
	Name() string
	// Begin is called once, before anything happens.
	Begin(Cluster)
	// Observe is called after each committed change, and must not write: it asks for steps.
	Observe(apiserver.Change)
}

// Server is an actor that has a say in how the API server answers. Serve is called before Begin.
type Server interface{ Serve(*apiserver.Server) }

// Cluster is the world as an actor sees it.
type Cluster interface {
	// Now is virtual time since the beginning of the run; Clock is the same as the cluster's clocks
	// show it.
	Now() time.Duration
	Clock() time.Time
	// Read serves a request that changes nothing, unrecorded.
	Read(*apiserver.Request) *apiserver.Response
	// Write performs a request as this actor. It takes effect at once and is recorded.
	Write(*apiserver.Request) *apiserver.Response
	// After asks for a step d from now, or as soon as the scheduler lets it for 0. A step that was
	// asked for under the same key and has not happened is withdrawn. The world does not settle
	// before the step.
	After(d time.Duration, key string, step func())
	// Again is After for an attempt that is repeated for as long as it changes nothing: the world
	// may settle once it has happened at least once since anything changed.
	Again(d time.Duration, key string, step func())
	// Later is After for what always comes round by itself, such as a CronJob's schedule: the world
	// may settle before the step, which does not happen while it settles after faults have been
	// healed.
	Later(d time.Duration, key string, step func())
	// Choose decides between n ways; 0 is the dull one.
	Choose(label string, n int) int
	// PodExit is the code with which a fault lets the containers of a pod end that starts; 0 for
	// none. class is what its name has in common with those of other runs.
	PodExit(p *corev1.Pod, class string) int32
	// NodeDown is for how long a fault takes a node away, of which a pod has just become ready; 0
	// for not at all.
	NodeDown(node string) time.Duration
}

// Get reads an object, and reports whether it exists.
func Get(c Cluster, path string, into any) bool {
	r := c.Read(request(http.MethodGet, path, nil))
	return r.Code == http.StatusOK && r.Decode(into) == nil
}

// Decode reads an object from a change, and reports whether it could.
func Decode(object []byte, into any) bool { return apiserver.Decode(object, into) == nil }

// Path is the URL path of an object, or of a collection where name is empty.
func Path(group, version, namespace, resource, name string) string {
	p := "/apis/" + group + "/" + version
	if group == "" {
		p = "/api/" + version
	}
	if namespace != "" {
		p += "/namespaces/" + namespace
	}
	p += "/" + resource
	if name != "" {
		p += "/" + name
	}
	return p
}

// Do performs a write and decodes the answer into out, unless that is nil. The error is a
// Kubernetes status error.
func Do(c Cluster, method, path string, in, out any) error {
	return decode(c.Write(request(method, path, in)), out)
}

// Record records an Event about an object, once, as client-go's recorder writes it
// (tools/record/event.go): in the object's namespace, or in "default" for one that has none. The
// answer is the name under which it is kept.
func Record(
	c Cluster, component string, about corev1.ObjectReference, kind, reason, message string,
) (name string, err error) {
	now := metav1.NewTime(c.Clock())
	e := corev1.Event{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault),
			GenerateName: about.Name + "."},
		InvolvedObject: about, Type: kind, Reason: reason, Message: message, Count: 1, FirstTimestamp: now,
		LastTimestamp: now,
		Source:        corev1.EventSource{Component: component}, ReportingController: component,
	}
	err = Do(c, http.MethodPost, Path("", "v1", e.Namespace, "events", ""), &e, &e)
	return e.Name, err
}

// List reads a collection, ordered as the server orders it: by namespace and name.
func List[T any](c Cluster, path string) ([]T, error) {
	r := c.Read(request(http.MethodGet, path, nil))
	if err := decode(r, nil); err != nil {
		return nil, err
	}
	return apiserver.DecodeItems[T](r)
}

// Resource is a type that the server serves, at the version that discovery prefers for it.
type Resource struct {
	Group, Version, Name, Kind string
	Namespaced                 bool
	Verbs                      []string
}

// Resources lists the types that the server serves, ordered by group and name, without
// subresources. A type that is not served at the version that its group prefers is listed at the
// first that serves it.
func Resources(c Cluster) []Resource {
	var out []Resource
	var groups metav1.APIGroupList
	Get(c, "/apis", &groups)
	at := []metav1.GroupVersion{{Version: "v1"}}
	for _, g := range groups.Groups {
		for _, v := range g.Versions { // the preferred one comes first
			at = append(at, metav1.GroupVersion{Group: g.Name, Version: v.Version})
		}
	}
	seen := map[string]bool{}
	for _, gv := range at {
		path := "/apis/" + gv.String()
		if gv.Group == "" {
			path = "/api/v1"
		}
		var list metav1.APIResourceList
		Get(c, path, &list)
		for _, r := range list.APIResources {
			if id := gv.Group + "/" + r.Name; !strings.Contains(r.Name, "/") && !seen[id] {
				seen[id] = true
				out = append(out, Resource{gv.Group, gv.Version, r.Name, r.Kind, r.Namespaced, r.Verbs})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Group != out[j].Group {
			return out[i].Group < out[j].Group
		}
		return out[i].Name < out[j].Name
	})
	return out
}

func request(method, path string, in any) *apiserver.Request {
	u, err := url.Parse(path)
	if err != nil {
		panic(fmt.Sprintf("actor: %q is no path: %v", path, err))
	}
	r := &apiserver.Request{Method: method, URL: u, Header: http.Header{}}
	if in != nil {
		if r.Body, err = json.Marshal(in); err != nil {
			panic(fmt.Sprintf("actor: %T cannot be encoded: %v", in, err))
		}
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	return r
}

func decode(r *apiserver.Response, out any) error {
	if r.Code >= 300 {
		status := metav1.Status{}
		if err := json.Unmarshal(r.Body, &status); err != nil {
			return fmt.Errorf("status %d: %s", r.Code, r.Body)
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	if out == nil {
		return nil
	}
	return r.Decode(out)
}
