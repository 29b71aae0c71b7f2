package apiserver

// OpenAPI v3 documents: what kubectl and Helm read before they send anything. Custom types are described by their schemas,
// built-in types as far as their modules go (openapi_builtin.go).

import (
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPI serves /openapi/v3 and the documents that it lists.
func (s *Server) openAPI(path string) (*Response, error) {
	if path == "/openapi/v3" {
		paths := map[string]any{}
		for k := range s.registry.all {
			for _, v := range k.versions {
				if v.served {
					paths[strings.TrimPrefix(root(v), "/")] = map[string]string{"serverRelativeURL": "/openapi/v3" + root(v)}
				}
			}
		}
		return encoded200(map[string]any{"paths": paths}), nil
	}
	wanted := strings.TrimPrefix(path, "/openapi/v3")
	var members []*version
	for k := range s.registry.all {
		for _, v := range k.versions {
			if v.served && root(v) == wanted {
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

// builtinDocuments are those in which every type is built in, by what is in them: such a document is the same for all servers
// and long, and each life of a program that reads it asks again.
var builtinDocuments sync.Map

// rendered is the document of one group and version as JSON.
func rendered(members []*version) []byte {
	key := ""
	for _, v := range members {
		if !v.kind.builtin {
			return marshal(document(members))
		}
		key += root(v) + "/" + v.kind.plural + " "
	}
	text, known := builtinDocuments.Load(key)
	if !known {
		text, _ = builtinDocuments.LoadOrStore(key, marshal(document(members)))
	}
	return text.([]byte)
}

// root is the path under which a version's group is served.
func root(v *version) string {
	if v.kind.group == "" {
		return "/api/" + v.name
	}
	return "/apis/" + v.apiVersion()
}

// document is the OpenAPI document of one group and version.
func document(members []*version) map[string]any {
	paths := map[string]any{}
	d := &describer{reference: schemaReference, out: map[string]*spec.Schema{}}
	if !members[0].kind.builtin {
		d.out = metaSchemas()
	}
	d.of(reflect.TypeFor[metav1.Patch]())
	for _, v := range members {
		path := root(v)
		if v.kind.namespaced {
			path += "/namespaces/{namespace}"
		}
		path += "/" + v.kind.plural
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
		if !v.kind.builtin {
			d.out[schemaName(v)] = v.openAPI()
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
func patchBody(v *version) map[string]any {
	content := map[string]any{}
	for _, kind := range []types.PatchType{types.ApplyYAMLPatchType, types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType} {
		if kind == types.StrategicMergePatchType && !v.kind.builtin {
			continue
		}
		content[string(kind)] = map[string]any{"schema": map[string]string{"$ref": schemaReference + metav1.Patch{}.OpenAPIModelName()}}
	}
	return map[string]any{"content": content, "required": true}
}

// actionOn says that something may be done with a type, and with which parameters.
func actionOn(v *version, action string, parameters ...string) map[string]any {
	list := make([]any, len(parameters))
	for i, name := range parameters {
		list[i] = map[string]any{"name": name, "in": "query", "schema": map[string]any{"type": "string", "uniqueItems": true}}
	}
	return map[string]any{
		"parameters":          list,
		"x-kubernetes-action": action,
		"x-kubernetes-group-version-kind": map[string]string{
			"group": v.kind.group, "version": v.name, "kind": v.kind.kind,
		},
		"responses": map[string]any{"200": map[string]any{
			"description": http.StatusText(http.StatusOK),
			"content": map[string]any{"application/json": map[string]any{
				"schema": map[string]string{"$ref": schemaReference + schemaName(v)},
			}},
		}},
	}
}

// schemaName is a type's name in a document: for custom types the group backwards, the version and the kind.
func schemaName(v *version) string {
	if v.newObject != nil {
		if named, ok := v.newObject().(modelNamer); ok {
			return named.OpenAPIModelName()
		}
	}
	parts := strings.Split(v.kind.group, ".")
	slices.Reverse(parts)
	return strings.TrimPrefix(strings.Join(append(parts, v.name, v.kind.kind), "."), ".")
}
