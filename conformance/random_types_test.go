//go:build conformance

package conformance

// The differential test over random types. The real server needs seconds to serve a definition. So
// a pool of definitions is generated from the seed before the test, and each sequence uses three of
// them.

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
)

// trio are three definitions of growing richness, in a group of their own.
type trio struct {
	place
	types map[string]*drawnType // by the name that scripts use
}

// GoString keeps rapid's account of a failure short.
func (s *trio) GoString() string { return strings.Join(s.kinds, " ") }

// operationsOfTrio is how many operations a trio is good for, before another one teaches more.
const operationsOfTrio = 250

func TestDifferentialDrawn(t *testing.T) {
	d := drawing{seed: 20262, operations: *operations / 4, managed: true}
	pool := drawPool(t, int(d.startSeed(t)), max(3, d.operations/operationsOfTrio))
	d.world = func(rt *rapid.T) (place, func(*rapid.T) string) {
		set := rapid.SampledFrom(pool).Draw(rt, "trio")
		return set.place, func(t *rapid.T) string {
			kind := oneOf(t, "kind", set.kinds...)
			return set.types[kind].operation(t, kind)
		}
	}
	d.run(t)
}

// drawPool draws trios until n have definitions that the real server takes; the model must take the
// same ones.
func drawPool(t *testing.T, seed, n int) []*trio {
	client, err := rest.HTTPClientFor(real.Config())
	if err != nil {
		t.Fatal(err)
	}
	var pool []*trio
	refused := 0
	for i := 0; len(pool) < n; i++ {
		set := rapid.Custom(func(rt *rapid.T) *trio {
			return drawTrio(rt,
				fmt.Sprintf("t%d-%d.example", seed, i))
		}).Example(seed*1000 + i)
		if why := set.refusal(t, client); why != "" {
			if refused++; refused > n {
				t.Fatalf("the real server takes few of the drawn definitions: %s%s", why, set.about)
			}
			continue
		}
		if _, err := startModel(true, set.definitions...); err != nil {
			t.Fatalf("the model refuses what the real server takes: %v%s", err, set.about)
		}
		pool = append(pool, set)
	}
	for _, set := range pool {
		if err := served(client, set); err != nil {
			t.Fatal(err)
		}
	}
	// Creates are held back until a definition is two seconds old, which would otherwise be some
	// sequence's time.
	time.Sleep(2 * time.Second)
	t.Logf("%d definitions are drawn, %d more were refused", 3*len(pool), refused)
	return pool
}

// refusal makes the definitions on the real server and returns its words when it does not take one.
func (s *trio) refusal(t *testing.T, client *http.Client) string {
	for _, crd := range s.definitions {
		const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		address := strings.TrimSuffix(real.Config().Host, "/") + definitions
		resp, err := client.Post(address, "application/json", strings.NewReader(jsonText(crd)))
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusCreated {
			return string(data)
		}
	}
	return ""
}

// served waits until the types of a trio are there.
func served(client *http.Client, s *trio) error {
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		p, _, err := path(name, "default")
		if err != nil {
			return err
		}
		for tries := 0; ; tries++ {
			resp, err := client.Get(strings.TrimSuffix(real.Config().Host, "/") + p)
			if err != nil {
				return err
			}
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
			if tries > 300 {
				return fmt.Errorf("%s is not served: %s", p, resp.Status)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	return nil
}

// drawTrio draws a definition for each stage of richness. The third is served in two versions.
func drawTrio(t *rapid.T, group string) *trio {
	s := &trio{types: map[string]*drawnType{}}
	id, _, _ := strings.Cut(group, ".")
	for stage, name := range []string{"Plain", "Rich", "Ruled"} {
		crd := CRDs()[1] // gadgets, under another name and in another group
		singular := strings.ToLower(name)
		crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
			Plural: singular + "s", Singular: singular, Kind: name, ListKind: name + "List"}
		crd.Spec.Group, crd.Name = group, crd.Spec.Names.Plural+"."+group
		d := drawer{t: t, stage: stage}
		root := props{Type: "object",
			Properties: map[string]props{"spec": d.object(3, true), "status": d.object(1, true)}}
		first := &crd.Spec.Versions[0]
		s.add(strings.ToLower(name)+id, first, d.version(first, root), crd)
		if stage == stageRuled {
			crd.Spec.Versions = append(crd.Spec.Versions,
				apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2", Served: true})
			second := &crd.Spec.Versions[1]
			s.add("second"+id, second, d.version(second, d.another(root)), crd)
		}
		s.definitions = append(s.definitions, crd)
		s.about += "\ndefinition: " + jsonText(crd.Spec)
	}
	s.kinds = slices.Sorted(maps.Keys(s.types))
	return s
}

func (s *trio) add(name string, v *apiextensionsv1.CustomResourceDefinitionVersion, d *drawnType,
	crd *apiextensionsv1.CustomResourceDefinition) {
	s.types[name] = d
	kinds[name] = kind{crd.Spec.Group + "/" + v.Name, crd.Spec.Names.Kind, crd.Spec.Names.Plural, false}
}

// version draws what a version has in addition to its schema.
func (d drawer) version(v *apiextensionsv1.CustomResourceDefinitionVersion, root props) *drawnType {
	out := &drawnType{}
	v.Subresources = &apiextensionsv1.CustomResourceSubresources{}
	if d.maybe("status") {
		v.Subresources.Status = &apiextensionsv1.CustomResourceSubresourceStatus{}
	}
	if d.stage > stagePlain && d.maybe("scale") {
		root.Properties["spec"].Properties["replicas"] = props{Type: "integer"}
		root.Properties["status"].Properties["replicas"] = props{Type: "integer"}
		v.Subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{SpecReplicasPath: ".spec.replicas",
			StatusReplicasPath: ".status.replicas"}
	}
	spec := root.Properties["spec"]
	for _, name := range slices.Sorted(maps.Keys(spec.Properties)) {
		p := spec.Properties[name]
		scalar := slices.Contains([]string{"string", "integer", "boolean"}, p.Type)
		if d.stage == stageRuled && scalar && d.maybe("selectable") {
			v.SelectableFields = append(v.SelectableFields, apiextensionsv1.SelectableField{JSONPath: ".spec." + name})
			out.fields = append(out.fields, "fieldSelector=spec."+name+"%3Dx", "fieldSelector=spec."+name+"%3D1",
				"fieldSelector=spec."+name+"!%3Dtrue")
		}
		if d.seldom("column") && p.Type != "" {
			v.AdditionalPrinterColumns = append(v.AdditionalPrinterColumns,
				apiextensionsv1.CustomResourceColumnDefinition{
					Name: "Column " + name, Type: oneOf(d.t, "type", "string", "integer", "number", "boolean"),
					JSONPath: ".spec." + name,
				})
		}
	}
	if len(v.AdditionalPrinterColumns) == 0 { // an age would be shown, to the second
		v.AdditionalPrinterColumns = []apiextensionsv1.CustomResourceColumnDefinition{{Name: "Spec", Type: "string",
			JSONPath: ".spec"}}
	}
	out.schema = root
	v.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &out.schema}
	return out
}

// another is a schema that knows some of what the first one knows, and something of its own.
func (d drawer) another(root props) props {
	spec := props{Type: "object", Properties: map[string]props{"extra": {Type: "string",
		Default: &apiextensionsv1.JSON{Raw: []byte(`"x"`)}, MaxLength: ptr.To[int64](bounded)}}}
	old := root.Properties["spec"]
	for _, name := range slices.Sorted(maps.Keys(old.Properties)) {
		if d.maybe("kept") {
			spec.Properties[name] = old.Properties[name]
		}
	}
	return props{Type: "object", Properties: map[string]props{"spec": spec, "status": root.Properties["status"]}}
}
