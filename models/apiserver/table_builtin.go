package apiserver

// Tables of built-in objects, for the types whose columns are plain facts. The columns and cells are those of pkg/printers/
// internalversion in the Kubernetes tree, which no module ships. Types that are not here have no tables: clients that ask
// for one are told 406 and take plain objects instead.

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// builtinTable says what a table of a built-in type shows between the name and the age, and after the age.
type builtinTable struct {
	columns, wide []metav1.TableColumnDefinition
	cells         func(runtime.Object) (cells, wide []any)
}

// about is what a type's documentation says of a field.
func about(of documented, field string) string { return of.SwaggerDoc()[field] }

func textColumn(name, about string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: about}
}

func wideColumn(name, about string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: about, Priority: 1}
}

// builtinTables is keyed by group and plural.
var builtinTables = map[string]*builtinTable{
	"/namespaces": {
		columns: []metav1.TableColumnDefinition{textColumn("Status", "The status of the namespace")},
		cells:   func(o runtime.Object) ([]any, []any) { return []any{string(o.(*corev1.Namespace).Status.Phase)}, nil },
	},
	"/configmaps": {
		columns: []metav1.TableColumnDefinition{textColumn("Data", about(corev1.ConfigMap{}, "data"))},
		cells: func(o runtime.Object) ([]any, []any) {
			m := o.(*corev1.ConfigMap)
			return []any{len(m.Data) + len(m.BinaryData)}, nil
		},
	},
	"/secrets": {
		columns: []metav1.TableColumnDefinition{textColumn("Type", about(corev1.Secret{}, "type")), textColumn("Data", about(corev1.Secret{}, "data"))},
		cells: func(o runtime.Object) ([]any, []any) {
			s := o.(*corev1.Secret)
			return []any{string(s.Type), len(s.Data)}, nil
		},
	},
	"/serviceaccounts": {
		cells: func(runtime.Object) ([]any, []any) { return nil, nil },
	},
	"apps/deployments": {
		columns: []metav1.TableColumnDefinition{
			textColumn("Ready", "Number of the pod with ready state"), textColumn("Up-to-date", about(appsv1.DeploymentStatus{}, "updatedReplicas")),
			textColumn("Available", about(appsv1.DeploymentStatus{}, "availableReplicas")),
		},
		wide: []metav1.TableColumnDefinition{
			wideColumn("Containers", "Names of each container in the template."), wideColumn("Images", "Images referenced by each container in the template."),
			wideColumn("Selector", about(appsv1.DeploymentSpec{}, "selector")),
		},
		cells: func(o runtime.Object) ([]any, []any) {
			d := o.(*appsv1.Deployment)
			return []any{fmt.Sprintf("%d/%d", d.Status.ReadyReplicas, *d.Spec.Replicas), d.Status.UpdatedReplicas, d.Status.AvailableReplicas}, templateCells(d)
		},
	},
}

// templateCells are the containers of a deployment, their images and its selector.
func templateCells(d *appsv1.Deployment) []any {
	var names, images []string
	for _, c := range d.Spec.Template.Spec.Containers {
		names, images = append(names, c.Name), append(images, c.Image)
	}
	selector := "<invalid>"
	if s, err := metav1.LabelSelectorAsSelector(d.Spec.Selector); err == nil {
		selector = s.String()
	}
	return []any{strings.Join(names, ","), strings.Join(images, ","), selector}
}

func (t *builtinTable) header() []metav1.TableColumnDefinition {
	out := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name", Description: about(metav1.ObjectMeta{}, "name")}}
	out = append(append(out, t.columns...), textColumn("Age", about(metav1.ObjectMeta{}, "creationTimestamp")))
	return append(out, t.wide...)
}

func (t *builtinTable) row(c *call, o *object) []any {
	cells, wide := t.cells(o.typed)
	cells = append([]any{o.meta.Name}, cells...)
	cells = append(cells, duration.HumanDuration(c.s.options.Now().Sub(o.meta.CreationTimestamp.Time)))
	return append(cells, wide...)
}
