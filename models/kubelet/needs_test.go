package kubelet_test

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/kubelet"
)

// TestPodWaitsForWhatItNames makes pods that name something that is made only later.
func TestPodWaitsForWhatItNames(t *testing.T) {
	named := corev1.LocalObjectReference{Name: "it"}
	volume := func(v corev1.VolumeSource) func(*corev1.PodSpec) {
		return func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: v}}
		}
	}
	for name, row := range map[string]struct {
		resource, kind, reason string
		names                  func(*corev1.PodSpec)
	}{
		"a ConfigMap as a volume": {"configmaps", "ConfigMap", "ContainerCreating",
			volume(corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named}})},
		"a Secret as a volume": {"secrets", "Secret", "ContainerCreating",
			volume(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "it"}})},
		"a Secret among others": {"secrets", "Secret", "ContainerCreating",
			volume(corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{LocalObjectReference: named}}}}})},
		"a Secret in the environment": {"secrets", "Secret", "CreateContainerConfigError", func(s *corev1.PodSpec) {
			secret := &corev1.SecretEnvSource{LocalObjectReference: named}
			s.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: secret}}
		}},
		"a key in the environment": {"configmaps", "ConfigMap", "CreateContainerConfigError", func(s *corev1.PodSpec) {
			key := &corev1.ConfigMapKeySelector{LocalObjectReference: named, Key: "k"}
			s.Containers[0].Env = []corev1.EnvVar{{Name: "E", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: key}}}
		}},
		"a claim": {"persistentvolumeclaims", "PersistentVolumeClaim", "", volume(
			corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "it"}})},
		"an optional one": {"", "", "", volume(
			corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: named,
				Optional: new(true)}})},
	} {
		c := actortest.New(kubelet.New()...)
		spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}
		row.names(&spec)
		create(t, c, spec)
		c.Run(5 * time.Minute)
		got := read(t, c)
		if row.resource == "" {
			if got.Status.Phase != corev1.PodRunning {
				t.Errorf("%s: the pod is %s", name, got.Status.Phase)
			}
			continue
		}
		if got.Status.Phase != corev1.PodPending || (row.reason == "") != (got.Spec.NodeName == "") {
			t.Errorf("%s: before, the pod is %s on %q", name, got.Status.Phase, got.Spec.NodeName)
			continue
		}
		if row.reason != "" &&
			(len(got.Status.ContainerStatuses) != 1 || got.Status.ContainerStatuses[0].State.Waiting == nil ||
				got.Status.ContainerStatuses[0].State.Waiting.Reason != row.reason) {
			t.Errorf("%s: the container says %+v", name, got.Status.ContainerStatuses)
		}
		it := map[string]any{"apiVersion": "v1", "kind": row.kind, "metadata": map[string]any{"name": "it"}}
		if row.reason == "" {
			it["spec"] = map[string]any{"accessModes": []string{"ReadWriteOnce"},
				"resources": map[string]any{"requests": map[string]any{"storage": "1Gi"}}}
		}
		if code := c.Do(http.MethodPost, actor.Path("", "v1", "default", row.resource, ""), it,
			nil); code != http.StatusCreated {
			t.Fatalf("%s: it cannot be made: %d", name, code)
		}
		c.Run(5 * time.Minute)
		if got := read(t, c); got.Status.Phase != corev1.PodRunning ||
			is(got, corev1.PodReady).Status != corev1.ConditionTrue {
			t.Errorf("%s: in the end the pod is %s", name, got.Status.Phase)
		}
	}
}
