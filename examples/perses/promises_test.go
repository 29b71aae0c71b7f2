//go:build !known

package perses

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/perses/perses-operator/api/v1alpha2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// The promises are sentences of README.md, docs/api.md and docs/user-guide.md in
// https://github.com/perses/perses-operator.
const (
	// "The operator manages the underlying Deployment or StatefulSet, Service, and ConfigMap
	// based on the spec" (README).
	oneWorkload = "a Perses has the workload of its storage, and no other"
	// The same sentence.
	hasParts = "a Perses has a Service and a ConfigMap"
	// "provisioning contains the versions of provisioning secrets currently in use" (api.md).
	newestSecret = "the status and the Pods name the newest version of the Secret"
	// "replicas is the number of desired pod replicas for the Perses deployment" (api.md).
	isAvailable = "a Perses that is reconciled is called available"
	// "Resources created by the operator" (user-guide.md) belong to it.
	nothingIsLeft = "nothing outlives its Perses"
)

type check = func(*history.History) error

// scenario declares the promises that are asked for.
func scenario(start func(*sim.World), asked ...string) func(*sim.World) {
	return func(w *sim.World) {
		want, deleted := "Deployment", false
		ask := func(declare func(string, check), sentence string, holds check) {
			if slices.Contains(asked, sentence) {
				declare(sentence, holds)
			}
		}
		ask(w.Eventually, oneWorkload, func(h *history.History) error {
			_, deploys := history.Get[appsv1.Deployment](h, "default", "p")
			_, sets := history.Get[appsv1.StatefulSet](h, "default", "p")
			if !deleted && (deploys != (want == "Deployment") || sets != (want == "StatefulSet")) {
				return fmt.Errorf("it should have a %s, and has a Deployment: %t, a StatefulSet: %t", want, deploys,
					sets)
			}
			return nil
		})
		ask(w.Eventually, hasParts, func(h *history.History) error {
			if !deleted && (len(history.List[corev1.Service](h)) == 0 || len(history.List[corev1.ConfigMap](h)) == 0) {
				return errors.New("one of them is missing")
			}
			return nil
		})
		ask(w.Eventually, newestSecret, func(h *history.History) error {
			p, _ := history.Get[v1alpha2.Perses](h, "default", "p")
			s, _ := history.Get[corev1.Secret](h, "default", "s")
			if in := p.Status.Provisioning; !deleted && (len(in) != 1 || in[0].Version != s.ResourceVersion) {
				return fmt.Errorf("the Secret has version %s, and the status has %v", s.ResourceVersion, in)
			}
			return nil
		})
		ask(w.Eventually, isAvailable, func(h *history.History) error {
			p, _ := history.Get[v1alpha2.Perses](h, "default", "p")
			if !deleted && !meta.IsStatusConditionTrue(p.Status.Conditions, "Available") {
				return fmt.Errorf("its conditions are %v", p.Status.Conditions)
			}
			return nil
		})
		ask(w.Eventually, nothingIsLeft, property.NoOrphans(time.Minute))

		start(w)
		w.Inject(fault.StaleCache(time.Minute), fault.MissedStates(time.Minute), fault.DroppedWatch(), fault.Relist(),
			fault.Crash("perses-operator"), fault.LostReply(), fault.Conflict(), fault.ServerError())
		w.Apply(secret("one"), perses("emptyDir: {}", 1))
		w.Settle()
		w.Apply(secret("two"), perses("emptyDir: {}", 2))
		w.Settle()
		want = "StatefulSet"
		w.Apply(perses("emptyDir: null", 2))
		w.Settle()
		w.Apply(secret("three"))
		w.Settle()
		deleted = true
		w.Apply(perses("emptyDir: null", 1))
		w.Remove(perses("", 1))
		w.Settle()
	}
}

func secret(value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s",
		Labels: map[string]string{"perses.dev/watch": "true"}}, StringData: map[string]string{"key": value}}
}

// perses is a server with such storage and so many replicas.
func perses(storage string, replicas int) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: perses.dev/v1alpha2
kind: Perses
metadata: {namespace: default, name: p}
spec:
  replicas: %d
  containerPort: 8080
  config: {database: {file: {folder: /perses, extension: yaml}}}
  storage: {%s}
  provisioning: {secretRefs: [{name: s, key: key}]}
`, replicas, storage), &u.Object); err != nil {
		panic(err)
	}
	return u
}

func TestPromises(t *testing.T) {
	sim.Check(t, scenario(install(t), oneWorkload, hasParts, newestSecret, isAvailable, nothingIsLeft))
}
