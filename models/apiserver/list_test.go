package apiserver_test

import (
	"fmt"
	"strings"
	"testing"
)

// A list of one name is read by the object's key only where a name is a key
// (staging/src/k8s.io/apiserver/pkg/registry/generic/registry/store.go, ListPredicate).
func TestListsOfOneName(t *testing.T) {
	s := newServer(t)
	for _, namespace := range []string{"default", "kube-public"} {
		must(t, s, "POST", "/api/v1/namespaces/"+namespace+"/configmaps", jsonType, configBody("a", 1))
	}
	made := s.Revision()
	must(t, s, "PATCH", configDir+"/a", mergeType, `{"data":{"payload":"new"}}`)
	const all, one = "/api/v1/configmaps?limit=1&fieldSelector=metadata.name%3Da",
		configDir + "?limit=1&fieldSelector=metadata.name%3Da"
	for _, c := range []struct {
		path  string
		items int
		more  bool
		sees  string
	}{
		{all, 1, true, "new"},
		{all + ",metadata.namespace%3Ddefault", 1, false, "new"},
		{one, 1, false, "new"},
		// Limit makes a version an exact one where there are pages
		// (staging/src/k8s.io/apiserver/pkg/storage/interfaces.go, ValidateListOptions).
		{fmt.Sprintf("%s&resourceVersion=%d", one, made), 1, false, "new"},
		{fmt.Sprintf("%s&resourceVersion=%d&resourceVersionMatch=Exact", one, made), 1, false, `"x"`},
		{fmt.Sprintf("%s&resourceVersion=%d", all, made), 1, true, `"x"`},
	} {
		body := string(must(t, s, "GET", c.path, "", "").Body)
		if n := strings.Count(body, `"name":"a"`); n != c.items || strings.Contains(body, `"continue"`) != c.more ||
			!strings.Contains(body, c.sees) {
			t.Errorf("%s: %s", c.path, body)
		}
	}
}
