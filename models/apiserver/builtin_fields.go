package apiserver

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
)

// The selectable fields of conversion.go in pkg/apis/core/v1, pkg/apis/batch/v1 and pkg/apis/certificates/v1.
var (
	podFields = map[string]func(*object) string{
		"spec.nodeName":      func(o *object) string { return podOf(o).Spec.NodeName },
		"spec.host":          func(o *object) string { return podOf(o).Spec.NodeName },
		"spec.restartPolicy": func(o *object) string { return string(podOf(o).Spec.RestartPolicy) },
		"spec.schedulerName": func(o *object) string { return podOf(o).Spec.SchedulerName },
		"spec.serviceAccountName": func(o *object) string {
			return podOf(o).Spec.ServiceAccountName
		},
		"spec.hostNetwork":         func(o *object) string { return strconv.FormatBool(podOf(o).Spec.HostNetwork) },
		"status.phase":             func(o *object) string { return string(podOf(o).Status.Phase) },
		"status.podIP":             func(o *object) string { return podOf(o).Status.PodIP },
		"status.nominatedNodeName": func(o *object) string { return podOf(o).Status.NominatedNodeName },
	}
	nodeFields = map[string]func(*object) string{
		"spec.unschedulable": func(o *object) string { return strconv.FormatBool(o.typed.(*corev1.Node).Spec.Unschedulable) },
	}
	serviceFields = map[string]func(*object) string{
		"spec.clusterIP": func(o *object) string { return o.typed.(*corev1.Service).Spec.ClusterIP },
		"spec.type":      func(o *object) string { return string(o.typed.(*corev1.Service).Spec.Type) },
	}
	jobFields = map[string]func(*object) string{
		"status.successful": func(o *object) string { return strconv.Itoa(int(o.typed.(*batchv1.Job).Status.Succeeded)) },
	}
	replicationControllerFields = map[string]func(*object) string{
		"status.replicas": func(o *object) string {
			return strconv.Itoa(int(o.typed.(*corev1.ReplicationController).Status.Replicas))
		},
	}
	certificateFields = map[string]func(*object) string{
		"spec.signerName": func(o *object) string { return o.typed.(*certificatesv1.CertificateSigningRequest).Spec.SignerName },
	}
)

func podOf(o *object) *corev1.Pod { return o.typed.(*corev1.Pod) }
