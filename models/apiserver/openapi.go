package apiserver

// OpenAPI v3 documents: what kubectl and Helm read before they send anything. Custom types are described in full. Of the
// built-in types the documents say which there are and what may be asked of them, so that clients leave the validation of
// fields to the server; their schemas are generated from the Kubernetes tree and are not at hand here.

import (
	"net/http"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPI serves /openapi/v3 and the documents that it lists.
func (c *call) openAPI(path string) (*Response, error) {
	if path == "/openapi/v3" {
		paths := map[string]any{}
		for k := range c.s.registry.all {
			for _, v := range k.versions {
				if v.served {
					paths[strings.TrimPrefix(v.root(), "/")] = map[string]string{"serverRelativeURL": "/openapi/v3" + v.root()}
				}
			}
		}
		return encoded200(map[string]any{"paths": paths}), nil
	}
	root := strings.TrimPrefix(path, "/openapi/v3")
	var members []*version
	for k := range c.s.registry.all {
		for _, v := range k.versions {
			if v.served && v.root() == root {
				members = append(members, v)
			}
		}
	}
	if !strings.HasPrefix(path, "/openapi/v3/") {
		return nil, notModelled("%s: only OpenAPI v3", path)
	}
	if len(members) == 0 {
		return nil, errNoSuchPath
	}
	return encoded200(document(members)), nil
}

// root is the path under which a version's group is served.
func (v *version) root() string {
	if v.kind.group == "" {
		return "/api/" + v.name
	}
	return "/apis/" + v.apiVersion()
}

// document is the OpenAPI document of one group and version.
func document(members []*version) map[string]any {
	paths, schemas := map[string]any{}, map[string]any{}
	for name, s := range metaSchemas() {
		schemas[name] = s
	}
	for _, v := range members {
		path := v.root()
		if v.kind.namespaced {
			path += "/namespaces/{namespace}"
		}
		path += "/" + v.kind.plural
		paths[path] = map[string]any{
			"get":  v.operation("list"),
			"post": v.operation("post", "dryRun", "fieldManager", "fieldValidation"),
		}
		paths[path+"/{name}"] = map[string]any{
			"get":    v.operation("get"),
			"put":    v.operation("put", "dryRun", "fieldManager", "fieldValidation"),
			"patch":  v.operation("patch", "dryRun", "fieldManager", "fieldValidation", "force"),
			"delete": v.operation("delete", "dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy"),
		}
		schemas[v.schemaName()] = v.published()
	}
	return map[string]any{
		"openapi":    "3.0.0",
		"info":       map[string]string{"title": "Kubernetes", "version": "v1.37.1"},
		"paths":      paths,
		"components": map[string]any{"schemas": schemas},
	}
}

// operation says that something may be done with a type, and with which parameters.
func (v *version) operation(action string, parameters ...string) map[string]any {
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
				"schema": map[string]string{"$ref": "#/components/schemas/" + v.schemaName()},
			}},
		}},
	}
}

// schemaName is a type's name in a document: its group backwards, its version and its kind.
func (v *version) schemaName() string {
	parts := strings.Split(v.kind.group, ".")
	slices.Reverse(parts)
	return strings.TrimPrefix(strings.Join(append(parts, v.name, v.kind.kind), "."), ".")
}

func (v *version) published() *spec.Schema {
	if v.kind.builtin == nil {
		return v.openAPI()
	}
	out := &spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}}}
	out.AddExtension("x-kubernetes-preserve-unknown-fields", true)
	out.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": v.kind.group, "version": v.name, "kind": v.kind.kind},
	})
	return out
}
