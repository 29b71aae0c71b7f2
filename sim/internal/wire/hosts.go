package wire

import (
	"cmp"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/models/apiserver"
)

// ServiceModel returns what serves a Service of the cluster; nil for a Service that it does not
// know.
type ServiceModel func(*corev1.Service) http.Handler

// outside is what lies behind host names other than those of API servers.
type outside struct {
	exact map[string]http.Handler
	// patterns are sorted, the longest first, so that the order of declaration means nothing.
	patterns []hostPattern
	services []ServiceModel
	// resolved are the hosts that were Services once. They stay names of the cluster when the
	// Service is gone.
	resolved map[string]bool
}

// hostPattern is a pattern of host names. The handler is nil if there are no such hosts.
type hostPattern struct {
	text    string
	handler http.Handler
}

// matches compares label by label: a star matches no dot.
func (p hostPattern) matches(host string) bool {
	ok, err := path.Match(slashed(p.text), slashed(host))
	return ok && err == nil
}

func slashed(host string) string { return strings.ReplaceAll(host, ".", "/") }

// target is where a request to a host goes.
type target struct {
	handler http.Handler
	service *corev1.Service
	absent  bool   // it is known that there is no such host
	refused bool   // the Service has no such port
	clash   string // two patterns that fit equally well
}

// found says whether something may answer.
func (t target) found() bool { return t.handler != nil || t.service != nil || t.refused }

// Outside adds a handler for a host outside the cluster, or for all hosts that match a pattern; nil
// for hosts that do not exist.
func (c *Network) Outside(host string, h http.Handler) error {
	if err := c.taken(host); err != nil {
		return err
	}
	if !strings.ContainsAny(host, "*?") {
		c.outside.exact[host] = h
		return nil
	}
	if strings.Contains(host, "/") {
		return fmt.Errorf("the host pattern %q has a slash; write the host without scheme and path, as *.example", host)
	}
	if _, err := path.Match(slashed(host), ""); err != nil {
		return fmt.Errorf("the host pattern %q is malformed; "+
			"* stands for any text within one label, ? for one character and [a-z] for one of those", host)
	}
	c.outside.patterns = append(c.outside.patterns, hostPattern{host, h})
	slices.SortFunc(c.outside.patterns, func(a, b hostPattern) int {
		return cmp.Or(len(b.text)-len(a.text), strings.Compare(a.text, b.text))
	})
	return nil
}

// Services adds a model of Services.
func (c *Network) Services(m ServiceModel) { c.outside.services = append(c.outside.services, m) }

// resolve returns the target of a host. Any goroutine may call it: what it reads changes in steps
// only, and no process runs during a step.
func (c *Network) resolve(call *Call, host string) target {
	if h, declared := c.outside.exact[host]; declared {
		return target{handler: h, absent: h == nil}
	}
	t := c.resolveService(call, host)
	if t.found() {
		return t
	}
	for i, p := range c.outside.patterns {
		if !p.matches(host) {
			continue
		}
		for _, q := range c.outside.patterns[i+1:] {
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

// HostState reports what is declared about the host of a URL. Any goroutine may call it.
func (c *Network) HostState(u *url.URL) HostState {
	t := c.resolve(&Call{Request: apiserver.Request{URL: u}}, u.Host)
	switch {
	case t.found() || t.clash != "" || u.Host == APIHost || c.remotes[u.Host] != nil:
		return Modelled
	case t.absent:
		return Absent
	}
	return Undeclared
}

// resolveService returns the Service that a host name of the cluster means.
func (c *Network) resolveService(call *Call, host string) (t target) {
	if len(c.outside.services) == 0 {
		return t
	}
	bare, port := host, ""
	if h, p, err := net.SplitHostPort(host); err == nil {
		bare, port = h, p
	}
	name, rest, _ := strings.Cut(strings.TrimSuffix(bare, "."), ".")
	namespace, zone, _ := strings.Cut(rest, ".")
	if name == "" || namespace == "" || zone != "" && zone != "svc" && zone != "svc.cluster.local" {
		return t
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	service, exists := c.server.Typed("", "services", namespace, name).(*corev1.Service)
	if !exists {
		// Two labels may be the name of a host elsewhere.
		t.absent = zone != "" || c.outside.resolved[bare] || c.server.Typed("", "namespaces", "", namespace) != nil
		return t
	}
	c.outside.resolved[bare] = true
	if !serves(service, port, call.Request.URL.Scheme) {
		return target{refused: true}
	}
	return target{service: service}
}

// serves says whether a Service has a port. A headless Service has none: its name leads to the
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
func (c *Network) handlerOf(t target) http.Handler {
	if t.service == nil {
		return t.handler
	}
	for _, model := range c.outside.services {
		if h := model(t.service.DeepCopy()); h != nil {
			return h
		}
	}
	return nil
}

// findHandler decides what answers a request to the outside that has arrived.
func (c *Network) findHandler(call *Call) error {
	t := c.resolve(call, call.Host)
	if call.handler = c.handlerOf(t); call.handler == nil || t.clash != "" {
		return c.noSuchHost(call, t)
	}
	return nil
}

// noSuchHost is the error of a request that leads to no model: what a resolver says of a host that
// does not exist. If the scenario does not say that, it is incomplete, and the observer is told: an
// operator that goes on after errors would hide it.
func (c *Network) noSuchHost(call *Call, t target) error {
	if t.refused {
		return &net.OpError{Op: "dial", Net: "tcp", Err: fmt.Errorf("connect to %s: connection refused", call.Host)}
	}
	if !t.absent || t.clash != "" {
		c.observer.UnknownHost(call, t.clash)
	}
	name := call.Request.URL.Hostname()
	return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}}
}
