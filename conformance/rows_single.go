package conformance

// Rows of rows/*.txtar that are no scripts.

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// rowsSingle are keyed by area and name.
var rowsSingle = map[string]func(*T){
	"patch types: an unknown content type is 415": func(t *T) {
		t.Script("$oneMap")
		for _, ct := range []string{"application/json", "text/plain", ""} {
			patchAs(t, ct, "cm/a", `{"data":{"k":"w"}}`)
		}
	},
	"patch types: a content type with a charset": func(t *T) {
		t.Script("$oneMap")
		patchAs(t, "application/merge-patch+json; charset=utf-8", "cm/a", `{"data":{"k":"w"}}`)
	},
	"sizes: a JSON patch of too many operations": func(t *T) {
		t.Script("$oneMap")
		p, _, _ := path("cm/a", t.Namespace)
		operations := strings.Repeat(`,{"op":"test","path":"/data/k","value":"v"}`, 10001)
		t.Do("10001 operations", http.MethodPatch, p, http.Header{"Content-Type": {patchTypes["JSON"]}},
			[]byte("["+operations[1:]+"]"))
	},
	"namespaces: the default namespaces are there": func(t *T) {
		for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
			_, _, data, err := t.roundTrip("GET", "/api/v1/namespaces/"+name, nil, nil)
			ns, _ := decode(data).(map[string]any)
			meta, _ := ns["metadata"].(map[string]any)
			t.Note(name, []any{meta["labels"], ns["spec"], ns["status"]}, err)
		}
	},
	"tokens: for a service account": func(t *T) {
		t.Script("POST sa {metadata: {name: a}}")
		// Not through the recorder, because no two tokens are alike.
		api := must(kubernetes.NewForConfig(t.arm.Config())).CoreV1().ServiceAccounts(t.Namespace)
		for _, seconds := range []int64{0, 600, 599} {
			req := &authenticationv1.TokenRequest{}
			if seconds > 0 {
				req.Spec = authenticationv1.TokenRequestSpec{Audiences: []string{"x"}, ExpirationSeconds: &seconds}
			}
			got, err := api.CreateToken(t.Ctx, "a", req, metav1.CreateOptions{})
			if err != nil {
				t.Note("refused", said(err), nil)
				continue
			}
			parts := strings.Split(got.Status.Token, ".")
			raw, err := base64.RawURLEncoding.DecodeString(parts[1])
			claims := map[string]any{}
			if err == nil {
				err = json.Unmarshal(raw, &claims)
			}
			kube, _ := claims["kubernetes.io"].(map[string]any)
			account, _ := kube["serviceaccount"].(map[string]any)
			t.Note("claims", []any{
				len(parts), claims["sub"], kube["namespace"], account["name"],
				claims["exp"].(float64) - claims["iat"].(float64), seconds > 0 && claims["aud"].([]any)[0] == "x",
				got.Status.ExpirationTimestamp.Unix() == int64(claims["exp"].(float64)), *got.Spec.ExpirationSeconds,
			}, err)
		}
		_, err := api.CreateToken(t.Ctx, "absent", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		t.Note("absent", said(err), nil)
	},
	"custom resources: its definition is there": func(t *T) {
		_, _, data, err := t.roundTrip("GET", definitions+"/widgets."+crdGroup, nil, nil)
		definition, _ := decode(data).(map[string]any)
		t.Note("spec", definition["spec"], err)
		status, _ := definition["status"].(map[string]any)
		t.Note("accepted names", status["acceptedNames"], nil)
		t.Note("stored versions", status["storedVersions"], nil)
	},
	"managed fields: name the program when no manager is given": func(t *T) {
		for _, agent := range []string{"tool/v1.2 (linux)", "", "odd\tname"} {
			p, _, _ := path("cm", t.Namespace)
			t.Do("POST as "+agent, "POST", p,
				map[string][]string{"User-Agent": {agent}, "Content-Type": {"application/json"}},
				[]byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"a-"},"data":{"k":"v"}}`))
		}
	},
	"definitions at run time: a watch shows how a definition comes": func(t *T) {
		t.finally(t.undefine)
		t.Script("POST cm {metadata: {name: a}}",
			"WATCH crd?fieldSelector=metadata.name%3Dgizmos.$ns.example&resourceVersion=$rv1",
			"POST crd "+gizmos("gizmo", "{subresources: {status: {}}}"), "READ 3")
	},
	"ownership in doubt: a version that has gone": func(t *T) {
		t.Script("GIZMOS gizmo {subresources: {status: {}}} & {name: v2, served: true, storage: false, "+
			"schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}",
			"POST gizmo2?fieldManager=two {metadata: {name: a}, spec: {plain: p}}",
			"APPLY gizmo2/a?fieldManager=one {metadata: {name: a}, spec: {max: 7}}")
		// Unobserved: the real server's controllers own parts of a definition's status.
		_, _, _, _ = t.roundTrip(http.MethodPatch, definitions+"/gizmos."+t.Namespace+".example",
			http.Header{"Content-Type": {patchTypes["JSON"]}},
			[]byte(`[{"op":"remove","path":"/spec/versions/1"}]`))
		t.Script("SETTLE 1500ms", "MERGE gizmo/a?fieldManager=x {spec: {min: 1}}",
			"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {max: 8}}",
			"MERGE gizmo/a?fieldManager=x {metadata: {managedFields: [{}]}}",
			"APPLY gizmo/a?fieldManager=one {metadata: {name: a}, spec: {max: 8}}")
	},
	"ownership in doubt: more than can be stored with it": func(t *T) {
		var keys []string
		for i := range 8000 {
			keys = append(keys, fmt.Sprintf(`"k%05d%s":1`, i, strings.Repeat("x", 94)))
		}
		p := "/apis/" + crdGroup + "/v1/namespaces/" + t.Namespace + "/gadgets"
		ask := func(method, name, patch, spec string) {
			at, header := p, http.Header{}
			if patch != "" {
				at += "/" + name + "?fieldManager=x"
				header.Set("Content-Type", patchTypes[patch])
			}
			code, _, data, err := t.roundTrip(method, at, header,
				[]byte(`{"apiVersion":"`+crdGroup+`/v1","kind":"Gadget","metadata":{"name":"`+name+`"},`+
					`"spec":{`+spec+`}}`))
			o, _ := decode(data).(map[string]any)
			meta, _ := o["metadata"].(map[string]any)
			entries, _ := meta["managedFields"].([]any)
			t.Note(method+" "+patch+" "+name, []any{code, len(entries) > 0 && len(spec) > 0, o["message"]}, err)
		}
		ask(http.MethodPost, "a", "", strings.Join(keys, ","))
		ask(http.MethodPatch, "a", "MERGE", "")
		ask(http.MethodPost, "b", "", "")
		ask(http.MethodPatch, "b", "MERGE", strings.Join(keys, ","))
		ask(http.MethodPatch, "c", "APPLY", strings.Join(keys, ","))
	},
}

// patchAs patches with a content type of the row's choice.
func patchAs(t *T, contentType, target, body string) {
	p, _, _ := path(target, t.Namespace)
	t.Do("PATCH as "+contentType, "PATCH", p, map[string][]string{"Content-Type": {contentType}}, []byte(body))
}
