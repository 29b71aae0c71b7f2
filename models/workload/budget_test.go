package workload_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/wavetank/wavetank/models/actor/actortest"
)

// budget is a PodDisruptionBudget of the pods that are labelled.
func budget(least, most string) *policyv1.PodDisruptionBudget {
	b := &policyv1.PodDisruptionBudget{
		TypeMeta:   metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: labelled}},
	}
	for value, into := range map[string]**intstr.IntOrString{least: &b.Spec.MinAvailable,
		most: &b.Spec.MaxUnavailable} {
		if value != "" {
			*into = new(intstr.Parse(value))
		}
	}
	return b
}

// allowed tells a budget's status.
func allowed(t *testing.T, c *actortest.Cluster) string {
	t.Helper()
	b := read[policyv1.PodDisruptionBudget](t, c, path("policy", "poddisruptionbudgets", "web"))
	out := fmt.Sprintf("healthy %d of %d, wanted %d, allowed %d, observed %v", b.Status.CurrentHealthy,
		b.Status.ExpectedPods, b.Status.DesiredHealthy,
		b.Status.DisruptionsAllowed, b.Status.ObservedGeneration == b.Generation)
	for _, cond := range b.Status.Conditions {
		out += fmt.Sprintf(", %s %s %s %s", cond.Type, cond.Status, cond.Reason, cond.Message)
	}
	return strings.TrimSpace(out)
}

func TestBudgetCounts(t *testing.T) {
	const yes, no = ", DisruptionAllowed True SufficientPods", ", DisruptionAllowed False InsufficientPods"
	for _, row := range []struct{ least, most, first, smaller string }{
		{"3", "", "healthy 4 of 4, wanted 3, allowed 1, observed true" + yes,
			"healthy 2 of 2, wanted 3, allowed 0, observed true" + no},
		{"50%", "", "healthy 4 of 4, wanted 2, allowed 2, observed true" + yes,
			"healthy 2 of 2, wanted 1, allowed 1, observed true" + yes},
		{"", "1", "healthy 4 of 4, wanted 3, allowed 1, observed true" + yes,
			"healthy 2 of 2, wanted 1, allowed 1, observed true" + yes},
		{"", "0%", "healthy 4 of 4, wanted 4, allowed 0, observed true" + no,
			"healthy 2 of 2, wanted 2, allowed 0, observed true" + no},
	} {
		c := cluster()
		do(t, c, http.MethodPost, path("policy", "poddisruptionbudgets", ""), budget(row.least, row.most), nil)
		c.Run(time.Second)
		if got := allowed(t, c); !strings.HasPrefix(got, "healthy 0 of 0") ||
			!strings.HasSuffix(got, "allowed 0, observed true"+no) {
			t.Errorf("least %s most %s: without pods %s", row.least, row.most, got)
		}
		do(t, c, http.MethodPost, path("apps", "deployments", ""), deployment(4, "web:1"), nil)
		c.Run(time.Minute)
		if got := allowed(t, c); got != row.first {
			t.Errorf("least %s most %s: %s, want %s", row.least, row.most, got, row.first)
		}
		do(t, c, http.MethodPatch, path("apps", "deployments", "web"),
			map[string]any{"spec": map[string]any{"replicas": 2}}, nil)
		c.Run(time.Minute)
		if got := allowed(t, c); got != row.smaller {
			t.Errorf("least %s most %s, then two: %s, want %s", row.least, row.most, got, row.smaller)
		}
	}
}

// TestBudgetOfStrangers has pods whose controllers cannot be counted, and pods without a
// controller.
func TestBudgetOfStrangers(t *testing.T) {
	c := cluster(taking(time.Hour))
	j := job(1, 0)
	j.Spec.Template.Labels = labelled
	do(t, c, http.MethodPost, path("batch", "jobs", ""), j, nil)
	do(t, c, http.MethodPost, path("policy", "poddisruptionbudgets", ""), budget("", "1"), nil)
	c.Run(time.Minute)
	if got := allowed(t, c); !strings.HasSuffix(got,
		"DisruptionAllowed False SyncFailed jobs.batch does not implement the scale subresource") {
		t.Errorf("of a Job: %s", got)
	}
	c = cluster()
	alone := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "alone", Labels: labelled},
		Spec:       template("web:1").Spec}
	do(t, c, http.MethodPost, path("", "pods", ""), alone, nil)
	do(t, c, http.MethodPost, path("policy", "poddisruptionbudgets", ""), budget("", "1"), nil)
	c.Run(time.Minute)
	if got := allowed(t, c); got != "healthy 1 of 0, wanted 0, allowed 0, observed true, DisruptionAllowed False "+
		"InsufficientPods" {
		t.Errorf("of a pod without a controller: %s", got)
	}
	if got := events(t, c); !slices.ContainsFunc(got,
		func(e string) bool { return strings.HasPrefix(e, "UnmanagedPods") }) {
		t.Errorf("events %v", got)
	}
}

// TestBudgetForgetsTheDisrupted: what was to be deleted and is still there after two minutes counts
// again.
func TestBudgetForgetsTheDisrupted(t *testing.T) {
	c := cluster()
	do(t, c, http.MethodPost, path("apps", "deployments", ""), deployment(2, "web:1"), nil)
	do(t, c, http.MethodPost, path("policy", "poddisruptionbudgets", ""), budget("1", ""), nil)
	c.Run(time.Minute)
	b := read[policyv1.PodDisruptionBudget](t, c, path("policy", "poddisruptionbudgets", "web"))
	b.Status.DisruptedPods = map[string]metav1.Time{running(t,
		c)[0]: metav1.NewTime(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC))}
	do(t, c, http.MethodPut, path("policy", "poddisruptionbudgets", "web")+"/status", b, nil)
	c.Run(time.Minute)
	if got := allowed(t, c); !strings.HasPrefix(got, "healthy 1 of 2, wanted 1, allowed 0") {
		t.Errorf("while it is expected to go: %s", got)
	}
	c.Run(2 * time.Minute)
	if got := allowed(t, c); !strings.HasPrefix(got, "healthy 2 of 2, wanted 1, allowed 1") {
		t.Errorf("when it has not gone: %s", got)
	}
}
