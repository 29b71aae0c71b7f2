package apiserver_test

// What tracking ownership costs: an apply, the writes to an object that has been applied to, and
// the first use.

import (
	"fmt"
	"testing"
)

const applyType = "application/apply-patch+yaml"

const deployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","labels":{"app":"x",` +
	`"n":"%d"}},"spec":{"replicas":2,` +
	`"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},` +
	`"spec":{"containers":[{"name":"c","image":"i",` +
	`"env":[{"name":"A","value":"b"}],"ports":[{"containerPort":80}]}]}}}}`

const widgetApply = `{"apiVersion":"test.wavetank.dev/v1","kind":"Widget","metadata":{"name":"w",` +
	`"labels":{"n":"%d"}},"spec":{"size":3,"color":"red"}}`

func BenchmarkApply(b *testing.B) {
	for _, kind := range []struct{ name, path, body string }{
		{"builtin", "/apis/apps/v1/namespaces/default/deployments/d", deployment},
		{"custom", widgetDir + "/w", widgetApply},
	} {
		for _, tracked := range []bool{false, true} {
			s := newServer(b, widgets())
			apply := func(i int) {
				must(b, s, "PATCH", kind.path+"?fieldManager=one", applyType, fmt.Sprintf(kind.body, i))
			}
			apply(0)
			if !tracked {
				b.Run("apply/"+kind.name, func(b *testing.B) {
					i := 0
					for b.Loop() {
						i++
						apply(i)
					}
				})
				b.Run("apply-nothing/"+kind.name, func(b *testing.B) {
					apply(0)
					for b.Loop() {
						apply(0)
					}
				})
				continue
			}
			b.Run("patch-tracked/"+kind.name, func(b *testing.B) {
				i := 0
				for b.Loop() {
					i++
					must(b, s, "PATCH", kind.path, mergeType, fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, i))
				}
			})
		}
	}
}

// BenchmarkFirstApply is the first apply to an object that ten updates have changed before.
func BenchmarkFirstApply(b *testing.B) {
	s := newServer(b, widgets())
	must(b, s, "PATCH", "/apis/apps/v1/namespaces/default/deployments/d?fieldManager=one", applyType,
		fmt.Sprintf(deployment, 0))
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprintf("%s/c%d", configDir, i)
		must(b, s, "POST", configDir, jsonType, configBody(fmt.Sprintf("c%d", i), 100))
		for j := range 10 {
			must(b, s, "PATCH", name, mergeType, fmt.Sprintf(`{"data":{"k":"%d"}}`, j))
		}
		must(b, s, "PATCH", name+"?fieldManager=one", applyType,
			fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d"},"data":{"x":"y"}}`, i))
	}
}
