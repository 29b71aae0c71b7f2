// Package heavy measures two kinds of operators that cost more than the reference controllers. One
// has a definition of 600 fields and writes statuses of 30 KiB. The other makes many small
// reconciles that write through patch helpers.
package heavy

import (
	"reflect"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var group = schema.GroupVersion{Group: "heavy.example", Version: "v1"}

// scheme is made once, as in an operator's main.
var scheme = newScheme()

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic("the scheme cannot be built: " + err.Error())
	}
	s.AddKnownTypes(group, &Fleet{}, &FleetList{}, &Machine{}, &MachineList{})
	metav1.AddToGroupVersion(s, group)
	return s
}

type props = apiextensionsv1.JSONSchemaProps

// definition returns the definition of a type with the schema that controller-gen would write.
// The rules belong to its spec.
func definition(o client.Object, plural string, rules ...apiextensionsv1.ValidationRule,
) *apiextensionsv1.CustomResourceDefinition {
	t := reflect.TypeOf(o).Elem()
	root := schemaOf(t)
	spec := root.Properties["spec"]
	spec.XValidations = rules
	root.Properties["spec"] = spec
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + "." + group.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group.Group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Kind: t.Name()},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: group.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{
					Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
				},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
			}},
		},
	}
}

// special are the schemas of types that are not encoded field by field.
var special = map[reflect.Type]props{
	reflect.TypeFor[metav1.ObjectMeta]():  {Type: "object"},
	reflect.TypeFor[metav1.Time]():        {Type: "string", Format: "date-time"},
	reflect.TypeFor[resource.Quantity]():  {XIntOrString: true},
	reflect.TypeFor[intstr.IntOrString](): {XIntOrString: true},
	reflect.TypeFor[[]byte]():             {Type: "string", Format: "byte"},
}

func schemaOf(t reflect.Type) props {
	if s, ok := special[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return props{Type: "string"}
	case reflect.Bool:
		return props{Type: "boolean"}
	case reflect.Slice:
		return listOf(t.Elem())
	case reflect.Map:
		value := schemaOf(t.Elem())
		return props{Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &value}}
	case reflect.Struct:
		return structOf(t)
	}
	return props{Type: "integer"}
}

// listOf is the schema of a list. Conditions are a map by type, as everywhere.
func listOf(item reflect.Type) props {
	items := schemaOf(item)
	list := props{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &items}}
	if kind := "map"; item == reflect.TypeFor[metav1.Condition]() {
		list.XListType, list.XListMapKeys = &kind, []string{"type"}
	}
	return list
}

// structOf is the schema of a struct. A field without omitempty is required, except for spec and
// status, which may be empty.
func structOf(t reflect.Type) props {
	s := props{Type: "object", Properties: map[string]props{}}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			for name, p := range schemaOf(f.Type).Properties {
				s.Properties[name] = p
			}
			continue
		}
		s.Properties[name] = schemaOf(f.Type)
		if !strings.Contains(options, "omit") && f.Type.Kind() != reflect.Struct {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// fields is the number of fields that a schema has.
func fields(s *props) (n int) {
	for name := range s.Properties {
		p := s.Properties[name]
		n += 1 + fields(&p)
	}
	if s.Items != nil {
		n += fields(s.Items.Schema)
	}
	return n
}
