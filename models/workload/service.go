package workload

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// servicesOfPods makes the Services look that select a pod, or did.
func servicesOfPods(c *controller, ch apiserver.Change) []string {
	if ch.Kind != "Pod" {
		return nil
	}
	services, _ := actor.List[corev1.Service](c, actor.Path("", "v1", ch.Namespace, "services", ""))
	if len(services) == 0 {
		return nil
	}
	var out []string
	var now, before metav1.PartialObjectMetadata
	_, _ = actor.Decode(ch.Object, &now), actor.Decode(ch.Previous, &before)
	for _, s := range services {
		if len(s.Spec.Selector) == 0 {
			continue
		}
		of := labels.SelectorFromSet(s.Spec.Selector)
		if of.Matches(labels.Set(now.Labels)) || of.Matches(labels.Set(before.Labels)) {
			out = append(out, s.Namespace+"/"+s.Name)
		}
	}
	return out
}

// syncService follows staging/src/k8s.io/endpointslice: the pods that a Service selects, as IPv4
// slices; pods whose ports differ are in slices of their own.
func syncService(c *controller, namespace, name string) (time.Duration, error) {
	s := read[corev1.Service](c, actor.Path("", "v1", namespace, "services", name))
	if s == nil || len(s.Spec.Selector) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName ||
		s.DeletionTimestamp != nil {
		return 0, nil
	}
	pods, err := actor.List[corev1.Pod](c, podsPath(namespace, ""))
	if err != nil {
		return 0, err
	}
	var want []*discoveryv1.EndpointSlice
	of := labels.SelectorFromSet(s.Spec.Selector)
	for i := range pods {
		p := &pods[i]
		if p.Status.PodIP == "" || !of.Matches(labels.Set(p.Labels)) || p.Status.Phase == corev1.PodFailed ||
			p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		ports := portsOf(s, p)
		n := slices.IndexFunc(want,
			func(w *discoveryv1.EndpointSlice) bool { return reflect.DeepEqual(w.Ports, ports) })
		if n < 0 {
			n, want = len(want), append(want, sliceOf(s, ports))
		}
		want[n].Endpoints = append(want[n].Endpoints, endpoint(s, p))
	}
	if len(want) == 0 {
		want = append(want, sliceOf(s, nil)) // where there is none yet, an empty one says so
	}
	collection := actor.Path("discovery.k8s.io", "v1", namespace, "endpointslices", "")
	have, err := actor.List[discoveryv1.EndpointSlice](c, collection)
	if err != nil {
		return 0, err
	}
	have = slices.DeleteFunc(have, func(e discoveryv1.EndpointSlice) bool { return !metav1.IsControlledBy(&e, s) })
	for _, w := range want {
		i := slices.IndexFunc(have,
			func(e discoveryv1.EndpointSlice) bool { return equality.Semantic.DeepEqual(e.Ports, w.Ports) })
		if i < 0 && len(have) > 0 {
			i = 0
		}
		if i < 0 {
			return 0, actor.Do(c, http.MethodPost, collection, w, nil)
		}
		now := have[i]
		have = slices.Delete(have, i, i+1)
		if equality.Semantic.DeepEqual(now.Endpoints, w.Endpoints) && equality.Semantic.DeepEqual(now.Ports, w.Ports) &&
			maps.Equal(now.Labels, w.Labels) {
			continue
		}
		now.TypeMeta, now.Endpoints, now.Ports, now.Labels = w.TypeMeta, w.Endpoints, w.Ports, w.Labels
		return 0, actor.Do(c, http.MethodPut, collection+"/"+now.Name, &now, nil)
	}
	for i := range have {
		return 0, gone(actor.Do(c, http.MethodDelete, collection+"/"+have[i].Name, nil, nil))
	}
	return 0, nil
}

// sliceOf is an empty slice of a Service. It has the Service's labels, and some of its own
// (utils.go, setEndpointSliceLabels).
func sliceOf(s *corev1.Service, ports []discoveryv1.EndpointPort) *discoveryv1.EndpointSlice {
	own := maps.Clone(s.Labels)
	if own == nil {
		own = map[string]string{}
	}
	delete(own, corev1.IsHeadlessService)
	if s.Spec.ClusterIP == corev1.ClusterIPNone || s.Spec.ClusterIP == "" {
		own[corev1.IsHeadlessService] = ""
	}
	own[discoveryv1.LabelServiceName], own[discoveryv1.LabelManagedBy] = s.Name, "endpointslice-controller.k8s.io"
	return &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, GenerateName: s.Name + "-", Labels: own,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s,
				corev1.SchemeGroupVersion.WithKind("Service"))}},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: ports,
	}
}

// endpoint is a pod as a Service's (utils.go, podToEndpoint).
func endpoint(s *corev1.Service, p *corev1.Pod) discoveryv1.Endpoint {
	serving, terminating := ready(p), p.DeletionTimestamp != nil
	isReady := s.Spec.PublishNotReadyAddresses || serving && !terminating
	e := discoveryv1.Endpoint{
		Addresses:  []string{p.Status.PodIP},
		Conditions: discoveryv1.EndpointConditions{Ready: &isReady, Serving: &serving, Terminating: &terminating},
		TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID},
	}
	if p.Spec.NodeName != "" {
		e.NodeName = &p.Spec.NodeName
	}
	if p.Spec.Hostname != "" && p.Spec.Subdomain == s.Name {
		e.Hostname = &p.Spec.Hostname
	}
	return e
}

// portsOf are the Service's ports as a pod has them. One that names a port that the pod does not
// have is left out (getEndpointPorts).
func portsOf(s *corev1.Service, p *corev1.Pod) (out []discoveryv1.EndpointPort) {
	for i := range s.Spec.Ports {
		port := &s.Spec.Ports[i]
		number := port.TargetPort.IntVal
		if port.TargetPort.Type == intstr.String {
			if number = named(p, port); number == 0 {
				continue
			}
		}
		out = append(out, discoveryv1.EndpointPort{Name: &port.Name, Protocol: &port.Protocol, Port: &number,
			AppProtocol: port.AppProtocol})
	}
	return out
}

// named is the number of the port that a Service's port targets by name, 0 if the pod has none
// (FindPort).
func named(p *corev1.Pod, port *corev1.ServicePort) int32 {
	for _, c := range p.Spec.Containers {
		for _, cp := range c.Ports {
			if cp.Name == port.TargetPort.StrVal && cp.Protocol == port.Protocol {
				return cp.ContainerPort
			}
		}
	}
	return 0
}
