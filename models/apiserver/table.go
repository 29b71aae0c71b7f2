package apiserver

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/util/jsonpath"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// Tables of objects: what `kubectl get` prints. The columns are those of the definition
// (apiextensions-apiserver's pkg/registry/customresource/tableconvertor); those of built-in types
// are in internal/registry.

// printer prints tables of one kind.
type printer struct {
	kind *registry.Kind
	ver  *object.Version
	now  func() time.Time
	// include is the part of its object that a row has: None, Object or, by default, its metadata.
	include string
}

// columns are the definition's columns of a version; without any, the age is shown
// (apiextensions-apiserver's pkg/apiserver/conversion/helpers, GetColumnsForVersion).
func (p *printer) columns() []apiextensionsv1.CustomResourceColumnDefinition {
	for _, in := range p.kind.Definition.Spec.Versions {
		if in.Name == p.ver.Name && len(in.AdditionalPrinterColumns) > 0 {
			return in.AdditionalPrinterColumns
		}
	}
	return []apiextensionsv1.CustomResourceColumnDefinition{{
		Name: "Age", Type: "date", Description: metav1.ObjectMeta{}.SwaggerDoc()["creationTimestamp"],
		JSONPath: ".metadata.creationTimestamp",
	}}
}

func header(columns []apiextensionsv1.CustomResourceColumnDefinition) []metav1.TableColumnDefinition {
	out := []metav1.TableColumnDefinition{{
		Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"],
	}}
	for _, col := range columns {
		about := col.Description
		if about == "" {
			about = "Custom resource definition column (in JSONPath format): " + col.JSONPath
		}
		out = append(out, metav1.TableColumnDefinition{Name: col.Name, Type: col.Type, Format: col.Format,
			Description: about, Priority: col.Priority})
	}
	return out
}

// print shows objects in rows.
func (p *printer) print(meta metav1.ListMeta, objects []*object.Object) *Response {
	table := metav1.Table{
		TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: metav1.SchemeGroupVersion.String()},
		ListMeta: meta, Rows: []metav1.TableRow{},
	}
	cells := p.customCells
	if columns := p.kind.Columns; columns != nil {
		table.ColumnDefinitions = columns.Header()
		cells = func(o *object.Object) []any { return columns.Row(o, p.now()) }
	} else {
		table.ColumnDefinitions = header(p.columns())
	}
	for _, o := range objects {
		row := metav1.TableRow{Cells: cells(o)}
		switch p.include {
		case "None":
		case "Object":
			row.Object = runtime.RawExtension{Raw: o.As(object.View{Version: p.ver}).JSON}
		default:
			row.Object = runtime.RawExtension{Raw: o.As(object.View{Version: p.ver, Partial: true}).JSON}
		}
		table.Rows = append(table.Rows, row)
	}
	return jsonResponse(http.StatusOK, object.Marshal(table))
}

func (p *printer) customCells(o *object.Object) []any {
	cells, content := []any{o.Meta.Name}, p.ver.Document(o)
	for _, col := range p.columns() {
		cells = append(cells, p.cell(content, col))
	}
	return cells
}

func (p *printer) cell(content map[string]any, col apiextensionsv1.CustomResourceColumnDefinition) any {
	path := jsonpath.New(col.Name).AllowMissingKeys(true)
	if err := path.Parse(fmt.Sprintf("{%s}", col.JSONPath)); err != nil {
		return nil
	}
	found, err := path.FindResults(content)
	if err != nil || len(found) == 0 || len(found[0]) == 0 {
		return nil
	}
	value := found[0][0].Interface()
	if col.Type == "string" {
		var out bytes.Buffer
		if err := path.PrintResults(&out, []reflect.Value{reflect.ValueOf(value)}); err != nil {
			return nil
		}
		return out.String()
	}
	return p.typedCell(col.Type, value)
}

// typedCell is a value that fits its column; others stay empty.
func (p *printer) typedCell(kind string, value any) any {
	switch v := value.(type) {
	case int64:
		if kind == "integer" {
			return v
		}
		if kind == "number" {
			return float64(v)
		}
	case float64:
		if kind == "integer" {
			return int64(math.Trunc(v))
		}
		if kind == "number" {
			return v
		}
	case bool:
		if kind == "boolean" {
			return v
		}
	case string:
		if kind == "date" {
			at, err := time.Parse(time.RFC3339, v)
			if err != nil {
				return "<invalid>"
			}
			return duration.HumanDuration(p.now().Sub(at))
		}
	}
	return nil
}
