package registry

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Columns are those of pkg/printers/internalversion in the Kubernetes tree, which no module ships.
// A kind without columns has no tables: clients that ask for one are told 406 and take plain
// objects.

// columns are what a table of a built-in kind shows: shown between the name and the age, wide after
// it.
type columns struct {
	shown, wide []metav1.TableColumnDefinition
	cells       func(runtime.Object) (cells, wide []any)
}

// about is what a type's documentation says of a field.
func about(of interface{ SwaggerDoc() map[string]string }, field string) string {
	return of.SwaggerDoc()[field]
}

func textColumn(name, about string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: about}
}

func wideColumn(name, about string) metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{Name: name, Type: "string", Description: about, Priority: 1}
}

func (c *columns) Header() []metav1.TableColumnDefinition {
	out := []metav1.TableColumnDefinition{{Name: "Name", Type: "string", Format: "name",
		Description: about(metav1.ObjectMeta{}, "name")}}
	out = append(append(out, c.shown...), textColumn("Age", about(metav1.ObjectMeta{}, "creationTimestamp")))
	return append(out, c.wide...)
}

func (c *columns) Row(o *object.Object, now time.Time) []any {
	cells, wide := c.cells(o.Typed)
	cells = append([]any{o.Meta.Name}, cells...)
	cells = append(cells, duration.HumanDuration(now.Sub(o.Meta.CreationTimestamp.Time)))
	return append(cells, wide...)
}
