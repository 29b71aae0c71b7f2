// Package scale measures how a world's size changes what a step costs: 50 controllers and 20 kinds
// of objects in one world, with 1, 100 or 10,000 objects.
package scale

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
)

const (
	controllers = 50
	processes   = 5
	changes     = 200 // of objects by the user, while steps are measured
)

var group = schema.GroupVersion{Group: "scale.example", Version: "v1"}

// thing is an object of some kind: each array type makes another Go type of it, as each kind of a
// real scheme has one.
type thing[K any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              spec   `json:"spec"`
	Status            status `json:"status,omitempty"`
}

type spec struct {
	Want string `json:"want"`
}

// status has what each controller has done.
type status struct {
	Done map[string]string `json:"done,omitempty"`
}

// object is a thing of any kind.
type object interface {
	client.Object
	spec() *spec
	status() *status
}

func (t *thing[K]) spec() *spec     { return &t.Spec }
func (t *thing[K]) status() *status { return &t.Status }

func (t *thing[K]) DeepCopyObject() runtime.Object {
	out := *t
	t.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Done = maps.Clone(t.Status.Done)
	return &out
}

// list is a list of things of one kind.
type list[K any] struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []thing[K] `json:"items"`
}

func (l *list[K]) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]thing[K], len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].DeepCopyObject().(*thing[K])
	}
	return &out
}

// kind is one of the 20.
type kind struct {
	name string
	make func() object
	list func() runtime.Object
}

func kindOf[K any](name string) kind {
	return kind{name, func() object { return &thing[K]{} }, func() runtime.Object { return &list[K]{} }}
}

var kinds = []kind{
	kindOf[[0]int]("Alder"), kindOf[[1]int]("Apple"), kindOf[[2]int]("Ash"), kindOf[[3]int]("Aspen"),
	kindOf[[4]int]("Beech"), kindOf[[5]int]("Birch"), kindOf[[6]int]("Cedar"), kindOf[[7]int]("Cherry"),
	kindOf[[8]int]("Elm"), kindOf[[9]int]("Fir"), kindOf[[10]int]("Hazel"), kindOf[[11]int]("Larch"),
	kindOf[[12]int]("Lime"), kindOf[[13]int]("Maple"), kindOf[[14]int]("Oak"), kindOf[[15]int]("Pine"),
	kindOf[[16]int]("Plum"), kindOf[[17]int]("Rowan"), kindOf[[18]int]("Spruce"), kindOf[[19]int]("Willow"),
}

// scheme has every kind.
func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, group)
	for _, k := range kinds {
		s.AddKnownTypeWithName(group.WithKind(k.name), k.make())
		s.AddKnownTypeWithName(group.WithKind(k.name+"List"), k.list())
	}
	return s
}

// definition is the CustomResourceDefinition of a kind.
func (k kind) definition() *apiextensionsv1.CustomResourceDefinition {
	type schemaOf = apiextensionsv1.JSONSchemaProps
	text := schemaOf{Type: "string"}
	done := schemaOf{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &text}}
	singular := strings.ToLower(k.name)
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: singular + "s." + group.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: singular + "s", Singular: singular,
				Kind: k.name, ListKind: k.name + "List"},
			Scope: apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]schemaOf{
						"spec":   {Type: "object", Properties: map[string]schemaOf{"want": text}},
						"status": {Type: "object", Properties: map[string]schemaOf{"done": done}},
					},
				}},
			}},
		},
	}
}

// setup is the setup function of a process, which has every fifth controller.
func setup(process int) func(ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		for c := process; c < controllers; c += processes {
			name, k := fmt.Sprintf("c%02d", c), kinds[c%len(kinds)]
			err := ctrl.NewControllerManagedBy(mgr).Named(name).For(k.make()).
				Complete(reconciler(mgr.GetClient(), name, k))
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// reconciler copies what is wanted into the status, under the controller's name.
func reconciler(c client.Client, name string, k kind) reconcile.Func {
	return func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		o := k.make()
		if err := c.Get(ctx, req.NamespacedName, o); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if o.status().Done[name] == o.spec().Want {
			return reconcile.Result{}, nil
		}
		patch := fmt.Appendf(nil, `{"status":{"done":{%q:%q}}}`, name, o.spec().Want)
		return reconcile.Result{}, c.Status().Patch(ctx, o, client.RawPatch(types.MergePatchType, patch))
	}
}

// World has this many objects, of all kinds in turn. Before is called when all controllers have
// done their work, after when they have done it once more for each change by the user.
func World(objects int, before, after func(*history.History)) func(*sim.World) {
	return func(w *sim.World) {
		for _, k := range kinds {
			w.Install(k.definition())
		}
		for p := range processes {
			w.Start(fmt.Sprintf("operator-%d", p), setup(p), sim.Options(ctrl.Options{Scheme: scheme()}))
		}
		for i := range objects {
			w.Apply(wanted(i, "first"))
		}
		w.Settle()
		before(w.History())
		for i := range changes {
			w.Apply(wanted(i%objects, fmt.Sprintf("change %d", i)))
			w.Sleep(time.Second)
		}
		w.Settle()
		after(w.History())
	}
}

func wanted(i int, what string) client.Object {
	k := kinds[i%len(kinds)]
	o := k.make()
	o.GetObjectKind().SetGroupVersionKind(group.WithKind(k.name))
	o.SetNamespace("default")
	o.SetName(fmt.Sprintf("o%05d", i))
	o.spec().Want = what
	return o
}
