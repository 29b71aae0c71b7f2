package conformance

// Definitions that rows make themselves, in a group of the row's own, so that no other row sees
// them. Their schemas are rows/*.yaml.

import (
	"context"
	"net/http"
	"strings"
	"time"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// gizmos is the definition of gizmos with one of the schemas. more has further fields of its first
// version, and versions are further versions.
func gizmos(schema, more string, versions ...string) string {
	text, err := rowFiles.ReadFile("rows/" + schema + ".yaml")
	if err != nil {
		panic(abort(err.Error()))
	}
	flow, err := fromYAML(string(text))
	if err != nil {
		panic(abort(schema + ".yaml: " + err.Error()))
	}
	first := `{name: v1, served: true, storage: true, schema: {openAPIV3Schema: ` + string(flow) + `}, ` +
		strings.TrimPrefix(more, "{")
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, ` +
		`metadata: {name: gizmos.$ns.example}, spec: {group: $ns.example, ` +
		`scope: Namespaced, names: {plural: gizmos, singular: gizmo, kind: Gizmo, listKind: GizmoList}, versions: [` +
		strings.Join(append([]string{first}, versions...), ", ") + `]}}`
}

// define makes a definition and waits until its objects are served, unobserved. The definition is
// deleted after the row.
func (t *T) define(definition string) {
	code, _, data, err := t.roundTrip(http.MethodPost, definitions,
		http.Header{"Content-Type": {"application/json"}}, t.yaml(definition))
	if err != nil || code != http.StatusCreated {
		panic(abort("the definition was not taken: " + string(data)))
	}
	t.finally(t.undefine)
	until(t.Ctx, "the definition is served", func() bool {
		code, _, _, err := t.roundTrip(http.MethodGet,
			"/apis/"+t.Namespace+".example/v1/namespaces/"+t.Namespace+"/gizmos", nil, nil)
		return err == nil && code == http.StatusOK
	})
}

// undefine deletes the definition and does not wait, because no other row uses the group.
func (t *T) undefine() {
	_, _, _, _ = t.roundTrip(http.MethodDelete, definitions+"/gizmos."+t.Namespace+".example", nil, nil)
}

func until(ctx context.Context, what string, done func() bool) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	for !done() {
		select {
		case <-ctx.Done():
			panic(abort("not in time: " + what))
		case <-time.After(50 * time.Millisecond):
		}
	}
}
