package wire

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// ServiceModel returns what serves a Service of the cluster; nil for a Service that it does not
// know.
type ServiceModel func(*corev1.Service) http.Handler

// PodModel returns what runs in a Pod of the cluster; nil for a Pod that it does not know.
type PodModel func(*corev1.Pod) http.Handler

// Hosts are what answers at a host name: the API servers, and what a scenario declares outside the
// cluster.
type Hosts struct {
	// mu guards the API servers: discovery is served on the caller's goroutine.
	mu      sync.Mutex
	server  *apiserver.Server
	backend Backend                      // that answers in place of server; nil for none
	remotes map[string]*apiserver.Server // other clusters, by host

	exact map[string]http.Handler // nil for a host that does not exist
	// patterns are sorted, the longest first, so that the order of declaration means nothing.
	patterns []hostPattern
	services []ServiceModel
	pods     []PodModel
	// resolved are the hosts that were Services or Pods once. They stay names and addresses of the
	// cluster when the object is gone.
	resolved map[string]bool
}

// hostPattern is a pattern of host names. The handler is nil if there are no such hosts.
type hostPattern struct {
	text    string
	handler http.Handler
}

// matches compares label by label: a star matches no dot.
func (h hostPattern) matches(host string) bool {
	ok, err := path.Match(slashed(h.text), slashed(host))
	return ok && err == nil
}

func slashed(host string) string { return strings.ReplaceAll(host, ".", "/") }

// target is where a request to a host goes.
type target struct {
	handler http.Handler
	service *corev1.Service
	pod     *corev1.Pod
	absent  bool   // it is known that there is no such host
	refused bool   // the Service has no such port, or the Pod does not run
	clash   string // two patterns that fit equally well
}

// found reports whether something may answer.
func (t target) found() bool {
	return t.handler != nil || t.service != nil || t.pod != nil || t.refused
}

// Outside adds a handler for a host outside the cluster, or for all hosts that match a pattern; nil
// for hosts that do not exist.
func (h *Hosts) Outside(host string, handler http.Handler) error {
	if err := h.taken(host); err != nil {
		return err
	}
	if !strings.ContainsAny(host, "*?") {
		h.exact[host] = handler
		return nil
	}
	if strings.Contains(host, "/") {
		return fmt.Errorf("the host pattern %q has a slash; write the host without scheme and path, as *.example", host)
	}
	if _, err := path.Match(slashed(host), ""); err != nil {
		return fmt.Errorf("the host pattern %q is malformed; "+
			"* stands for any text within one label, ? for one character and [a-z] for one of those", host)
	}
	h.patterns = append(h.patterns, hostPattern{host, handler})
	slices.SortFunc(h.patterns, func(a, b hostPattern) int {
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
	})
	return nil
}

// Services adds a model of Services.
func (h *Hosts) Services(m ServiceModel) { h.services = append(h.services, m) }

// Pods adds a model of what runs in Pods.
func (h *Hosts) Pods(m PodModel) { h.pods = append(h.pods, m) }

// resolve returns the target of a host. Any goroutine may call it: what it reads changes in steps
// only, and no process runs during a step.
func (h *Hosts) resolve(host, scheme string) target {
	if handler, declared := h.exact[host]; declared {
		return target{handler: handler, absent: handler == nil}
	}
	t := h.resolvePod(host)
	if !t.found() && !t.absent {
		t = h.resolveService(host, scheme)
	}
	if t.found() {
		return t
	}
	for i, p := range h.patterns {
		if !p.matches(host) {
			continue
		}
		for _, q := range h.patterns[i+1:] {
			if len(q.text) == len(p.text) && q.matches(host) {
				t.clash = fmt.Sprintf("both %q and %q", p.text, q.text)
			}
		}
		t.handler, t.absent = p.handler, p.handler == nil
		break
	}
	return t
}

// HostState is what a scenario has declared about a host.
type HostState int

// The states of a host.
const (
	Undeclared HostState = iota
	Absent               // it is known that there is no such host
	Modelled             // something may answer
)

// State reports what is declared about the host of a URL. Any goroutine may call it.
func (h *Hosts) State(u *url.URL) HostState {
	t := h.resolve(u.Host, u.Scheme)
	switch {
	case t.found() || t.clash != "" || u.Host == APIHost || h.remotes[u.Host] != nil:
		return Modelled
	case t.absent:
		return Absent
	}
	return Undeclared
}

// HasOutside reports whether there is a model of a host outside the cluster.
func (h *Hosts) HasOutside() bool {
	exact := slices.Collect(maps.Values(h.exact))
	return len(h.services) > 0 || len(h.pods) > 0 ||
		slices.ContainsFunc(exact, func(handler http.Handler) bool { return handler != nil }) ||
		slices.ContainsFunc(h.patterns, func(p hostPattern) bool { return p.handler != nil })
}

// splitPort returns a host without its port, and the port; "" for none.
func splitPort(host string) (bare, port string) {
	if name, number, err := net.SplitHostPort(host); err == nil {
		return name, number
	}
	return host, ""
}

// resolvePod returns the Pod that an address means, or the name that a Pod has behind a headless
// Service: hostname.subdomain.namespace.svc.
func (h *Hosts) resolvePod(host string) (t target) {
	bare, _ := splitPort(host)
	label := strings.SplitN(strings.TrimSuffix(bare, "."), ".", 4)
	inCluster := len(label) == 4 && (label[3] == "svc" || label[3] == "svc.cluster.local")
	if len(h.pods) == 0 || !inCluster && net.ParseIP(bare) == nil {
		return t
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for o := range h.server.EachTyped("", "pods", "") {
		p, is := o.(*corev1.Pod)
		if !is || p.Status.PodIP == "" {
			continue
		}
		named := inCluster && slices.Equal(label[:3], []string{p.Spec.Hostname, p.Spec.Subdomain, p.Namespace})
		if named || p.Status.PodIP == bare {
			h.resolved[bare] = true
			return target{pod: p, refused: p.Status.Phase != corev1.PodRunning}
		}
	}
	t.absent = inCluster || h.resolved[bare]
	return t
}

// resolveService returns the Service that a host name of the cluster means.
func (h *Hosts) resolveService(host, scheme string) (t target) {
	if len(h.services) == 0 {
		return t
	}
	bare, port := splitPort(host)
	name, rest, _ := strings.Cut(strings.TrimSuffix(bare, "."), ".")
	namespace, zone, _ := strings.Cut(rest, ".")
	if name == "" || namespace == "" || zone != "" && zone != "svc" && zone != "svc.cluster.local" {
		return t
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	service, exists := h.server.Typed("", "services", namespace, name).(*corev1.Service)
	if !exists {
		// Two labels may be the name of a host elsewhere.
		t.absent = zone != "" || h.resolved[bare] || h.server.Typed("", "namespaces", "", namespace) != nil
		return t
	}
	h.resolved[bare] = true
	if !serves(service, port, scheme) {
		return target{refused: true}
	}
	return target{service: service}
}

// serves reports whether a Service has a port. A headless Service has none: its name leads to the
// pods.
func serves(s *corev1.Service, port, scheme string) bool {
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		return true
	}
	if port == "" {
		port = map[string]string{"https": "443"}[scheme]
		if port == "" {
			port = "80"
		}
	}
	has := func(p corev1.ServicePort) bool { return strconv.Itoa(int(p.Port)) == port }
	return slices.ContainsFunc(s.Spec.Ports, has)
}

// handlerOf is what answers at a target; nil for nothing.
func (h *Hosts) handlerOf(t target) http.Handler {
	switch {
	case t.refused:
		return nil
	case t.pod != nil:
		return modelOf(h.pods, t.pod)
	case t.service != nil:
		return modelOf(h.services, t.service)
	}
	return t.handler
}

// modelOf asks models for what serves an object, one after the other.
func modelOf[M ~func(O) http.Handler, O interface{ DeepCopy() O }](models []M, object O) http.Handler {
	for _, model := range models {
		if handler := model(object.DeepCopy()); handler != nil {
			return handler
		}
	}
	return nil
}

// taken returns an error if a host name is used already.
func (h *Hosts) taken(host string) error {
	_, ok := h.exact[host]
	pattern := slices.ContainsFunc(h.patterns, func(p hostPattern) bool { return p.text == host })
	if ok || pattern || h.remotes[host] != nil || host == APIHost {
		return fmt.Errorf("host %q was declared twice", host)
	}
	return nil
}
