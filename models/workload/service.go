package workload

import (
	"encoding/json"
	"net/http"
	"reflect"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
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
	_, _ = json.Unmarshal(ch.Object, &now), json.Unmarshal(ch.Previous, &before)
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

// syncService follows staging/src/k8s.io/endpointslice: the pods that a Service selects, as one IPv4 slice.
func syncService(c *controller, namespace, name string) (time.Duration, error) {
	s := read[corev1.Service](c, actor.Path("", "v1", namespace, "services", name))
	if s == nil || len(s.Spec.Selector) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName || s.DeletionTimestamp != nil {
		return 0, nil
	}
	pods, err := actor.List[corev1.Pod](c, podsPath(namespace, ""))
	if err != nil {
		return 0, err
	}
	want := &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, GenerateName: name + "-",
			Labels:          map[string]string{discoveryv1.LabelServiceName: name, discoveryv1.LabelManagedBy: "endpointslice-controller.k8s.io"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
	}
	of := labels.SelectorFromSet(s.Spec.Selector)
	for _, p := range pods {
		if p.Status.PodIP == "" || !of.Matches(labels.Set(p.Labels)) || p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			continue
		}
		serving, terminating := ready(&p), p.DeletionTimestamp != nil
		isReady := s.Spec.PublishNotReadyAddresses || serving && !terminating
		want.Endpoints = append(want.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{p.Status.PodIP},
			Conditions: discoveryv1.EndpointConditions{Ready: &isReady, Serving: &serving, Terminating: &terminating},
			NodeName:   &p.Spec.NodeName,
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: p.Name, UID: p.UID},
		})
		if want.Ports == nil {
			want.Ports = ports(s, &p)
		}
	}
	collection := actor.Path("discovery.k8s.io", "v1", namespace, "endpointslices", "")
	all, err := actor.List[discoveryv1.EndpointSlice](c, collection)
	if err != nil {
		return 0, err
	}
	for _, have := range all {
		if !metav1.IsControlledBy(&have, s) {
			continue
		}
		if reflect.DeepEqual(have.Endpoints, want.Endpoints) && reflect.DeepEqual(have.Ports, want.Ports) {
			return 0, nil
		}
		have.Endpoints, have.Ports = want.Endpoints, want.Ports
		have.TypeMeta = want.TypeMeta
		return 0, actor.Do(c, http.MethodPut, collection+"/"+have.Name, &have, nil)
	}
	return 0, actor.Do(c, http.MethodPost, collection, want, nil)
}

// ports are the Service's ports as a pod has them.
func ports(s *corev1.Service, p *corev1.Pod) []discoveryv1.EndpointPort {
	var out []discoveryv1.EndpointPort
	for i := range s.Spec.Ports {
		port := &s.Spec.Ports[i]
		number := port.TargetPort.IntVal
		if port.TargetPort.Type == intstr.String {
			for _, c := range p.Spec.Containers {
				for _, cp := range c.Ports {
					if cp.Name == port.TargetPort.StrVal {
						number = cp.ContainerPort
					}
				}
			}
		}
		out = append(out, discoveryv1.EndpointPort{Name: &port.Name, Protocol: &port.Protocol, Port: &number, AppProtocol: port.AppProtocol})
	}
	return out
}
