// This file is the one kind of the bench that has a generation and a status: ConfigMaps have
// neither.

package planted

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// Task wants something to have a colour.
type Task struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TaskSpec   `json:"spec,omitempty"`
	Status            TaskStatus `json:"status,omitempty"`
}

// TaskSpec is what is wanted.
type TaskSpec struct {
	Colour string `json:"colour,omitempty"`
}

// TaskStatus is what was seen.
type TaskStatus struct {
	Colour             string `json:"colour,omitempty"`
	Ready              bool   `json:"ready,omitempty"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"`
}

// TaskList is many of them.
type TaskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Task `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (t *Task) DeepCopyObject() runtime.Object {
	out := *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (t *TaskList) DeepCopyObject() runtime.Object {
	out := *t
	t.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range t.Items {
		out.Items = append(out.Items, *t.Items[i].DeepCopyObject().(*Task))
	}
	return &out
}

var group = schema.GroupVersion{Group: "bench.example", Version: "v1"}

// scheme is made once, as in an operator's main.
var scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(fmt.Sprintf("the bench's scheme cannot be built: %v", err))
	}
	s.AddKnownTypes(group, &Task{}, &TaskList{})
	metav1.AddToGroupVersion(s, group)
	return s
}

func task(name, colour string) *Task {
	return &Task{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: TaskSpec{Colour: colour}}
}

// tasks is the kind's definition.
func tasks() *apiextensionsv1.CustomResourceDefinition {
	open := true
	part := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "tasks." + group.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "tasks", Singular: "task", Kind: "Task",
				ListKind: "TaskList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": part, "status": part},
				}},
			}},
		},
	}
}
