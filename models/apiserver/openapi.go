package apiserver

import (
	"net/http"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// OpenAPI v3 documents: what kubectl and Helm read before they send anything. Custom types are
// described by their schemas, built-in types as far as their modules go (openapi_builtin.go).

// serveOpenAPI serves /openapi/v3 and the documents that it lists.
func serveOpenAPI(kinds *registry.Registry, path string) (*Response, error) {
	if path == "/openapi/v3" {
		paths := map[string]any{}
		for k := range kinds.All {
			for _, v := range k.Versions {
				if v.Served {
					paths[strings.TrimPrefix(root(v), "/")] = map[string]string{"serverRelativeURL": "/openapi/v3" +
						root(v)}
				}
			}
		}
		return encoded200(map[string]any{"paths": paths}), nil
	}
	wanted := strings.TrimPrefix(path, "/openapi/v3")
	var members []*object.Version
	for k := range kinds.All {
		for _, v := range k.Versions {
			if v.Served && root(v) == wanted {
				members = append(members, v)
			}
		}
	}
	if !strings.HasPrefix(path, "/openapi/v3/") {
		return nil, NotModelled("%s: only OpenAPI v3", path)
	}
	if len(members) == 0 {
		return nil, errNoSuchPath
	}
	return jsonResponse(http.StatusOK, rendered(members)), nil
}

// builtinDocuments are the documents in which every type is built in, by what is in them. Such a
// document is long and the same for all servers, and each program that starts asks for it again.
var builtinDocuments sync.Map

// rendered is the document of one group and version as JSON.
func rendered(members []*object.Version) []byte {
	key := ""
	for _, v := range members {
		if !v.Type.Builtin {
			return object.Marshal(document(members))
		}
		key += root(v) + "/" + v.Type.Plural + " "
	}
	text, known := builtinDocuments.Load(key)
	if !known {
		text, _ = builtinDocuments.LoadOrStore(key, object.Marshal(document(members)))
	}
	return text.([]byte)
}

// root is the path under which a version's group is served.
func root(v *object.Version) string {
	if v.Type.Group == "" {
		return "/api/" + v.Name
	}
	return "/apis/" + v.APIVersion()
}

// document is the OpenAPI document of one group and version.
func document(members []*object.Version) map[string]any {
	paths := map[string]any{}
	d := &describer{reference: object.SchemaReference, out: map[string]*spec.Schema{}}
	if !members[0].Type.Builtin {
		d.out = object.MetaSchemas()
	}
	d.of(reflect.TypeFor[metav1.Patch]())
	for _, v := range members {
		path := root(v)
		if v.Type.Namespaced {
			path += "/namespaces/{namespace}"
		}
		path += "/" + v.Type.Plural
		paths[path] = map[string]any{
			"get":  actionOn(v, "list"),
			"post": actionOn(v, "post", "dryRun", "fieldManager", "fieldValidation"),
		}
		patch := actionOn(v, "patch", "dryRun", "fieldManager", "fieldValidation", "force")
		patch["requestBody"] = patchBody(v)
		paths[path+"/{name}"] = map[string]any{
			"get":    actionOn(v, "get"),
			"put":    actionOn(v, "put", "dryRun", "fieldManager", "fieldValidation"),
			"patch":  patch,
			"delete": actionOn(v, "delete", "dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"),
		}
		if !v.Type.Builtin {
			d.out[schemaName(v)] = v.OpenAPI()
		} else {
			d.describeVersion(v)
		}
	}
	d.nameKinds()
	return map[string]any{
		"openapi":    "3.0.0",
		"info":       map[string]string{"title": "Kubernetes", "version": "v1.37.1"},
		"paths":      paths,
		"components": map[string]any{"schemas": d.out},
	}
}

// patchBody says which patches a type takes.
func patchBody(v *object.Version) map[string]any {
	content := map[string]any{}
	for _, kind := range []types.PatchType{types.ApplyYAMLPatchType, types.JSONPatchType, types.MergePatchType,
		types.StrategicMergePatchType} {
		if kind == types.StrategicMergePatchType && !v.Type.Builtin {
			continue
		}
		content[string(kind)] = map[string]any{"schema": map[string]string{"$ref": object.SchemaReference +
			metav1.Patch{}.OpenAPIModelName()}}
	}
	return map[string]any{"content": content, "required": true}
}

// actionOn says that something may be done with a type, and with which parameters.
func actionOn(v *object.Version, action string, parameters ...string) map[string]any {
	list := make([]any, len(parameters))
	for i, name := range parameters {
		list[i] = map[string]any{"name": name, "in": "query",
			"schema": map[string]any{"type": "string", "uniqueItems": true}}
	}
	return map[string]any{
		"parameters":          list,
		"x-kubernetes-action": action,
		"x-kubernetes-group-version-kind": map[string]string{
			"group": v.Type.Group, "version": v.Name, "kind": v.Type.Kind,
		},
		"responses": map[string]any{"200": map[string]any{
			"description": http.StatusText(http.StatusOK),
			"content": map[string]any{"application/json": map[string]any{
				"schema": map[string]string{"$ref": object.SchemaReference + schemaName(v)},
			}},
		}},
	}
}
