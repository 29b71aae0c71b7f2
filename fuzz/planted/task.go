// This file is the one kind of the bench that has a generation and a status: ConfigMaps have
// neither. Its definition is in testdata.

package planted

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
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
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	s.AddKnownTypes(group, &Task{}, &TaskList{})
	metav1.AddToGroupVersion(s, group)
	return s
}

func task(name, colour string) *Task {
	return &Task{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name}, Spec: TaskSpec{Colour: colour}}
}
