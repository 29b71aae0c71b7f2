// Package website measures a whole operator of the usual kind: a Site becomes a ConfigMap, a
// Deployment and a Service, and Kubernetes' own controllers and a kubelet make pods of them.
package website

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Site is a page that some pods serve.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SiteSpec   `json:"spec,omitempty"`
	Status            SiteStatus `json:"status,omitempty"`
}

// SiteSpec is what a user wants.
type SiteSpec struct {
	Page     string `json:"page,omitempty"`
	Image    string `json:"image,omitempty"`
	Replicas int32  `json:"replicas,omitempty"`
}

// SiteStatus is what the operator has seen.
type SiteStatus struct {
	Ready              int32              `json:"ready,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// SiteList is many of them.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

// DeepCopyInto copies the site.
func (s *Site) DeepCopyInto(out *Site) {
	*out = *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = nil
	for i := range s.Status.Conditions {
		out.Status.Conditions = append(out.Status.Conditions, *s.Status.Conditions[i].DeepCopy())
	}
}

// DeepCopyObject implements runtime.Object.
func (s *Site) DeepCopyObject() runtime.Object {
	out := &Site{}
	s.DeepCopyInto(out)
	return out
}

// DeepCopyObject implements runtime.Object.
func (s *SiteList) DeepCopyObject() runtime.Object {
	out := *s
	s.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Site, len(s.Items))
	for i := range s.Items {
		s.Items[i].DeepCopyInto(&out.Items[i])
	}
	return &out
}

var group = schema.GroupVersion{Group: "web.example", Version: "v1"}

// scheme is made once, as in an operator's main.
var scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(fmt.Sprintf("the scheme cannot be built: %v", err))
	}
	s.AddKnownTypes(group, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(s, group)
	return s
}

// definition has the schema that controller-gen would write.
func definition() *apiextensionsv1.CustomResourceDefinition {
	type props = map[string]apiextensionsv1.JSONSchemaProps
	text, number := apiextensionsv1.JSONSchemaProps{Type: "string"}, apiextensionsv1.JSONSchemaProps{Type: "integer"}
	when := apiextensionsv1.JSONSchemaProps{Type: "string", Format: "date-time"}
	condition := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: props{"type": text, "status": text,
		"reason": text, "message": text, "observedGeneration": number, "lastTransitionTime": when},
		Required: []string{"lastTransitionTime", "message", "reason", "status", "type"}}
	conditions := apiextensionsv1.JSONSchemaProps{Type: "array",
		Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &condition}}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object",
		Properties: props{"page": text, "image": text, "replicas": number}}
	status := apiextensionsv1.JSONSchemaProps{Type: "object",
		Properties: props{"ready": number, "observedGeneration": number, "conditions": conditions}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "sites." + group.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "sites", Singular: "site", Kind: "Site",
				ListKind: "SiteList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: props{"apiVersion": text, "kind": text, "metadata": {Type: "object"},
						"spec": spec, "status": status},
				}},
			}},
		},
	}
}
