package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The operator of testdata/tenant.txtar, by README's words: wavetank init writes its test, and no
// line is added. Without a bug there is one finding, which is true: the finalizer's update writes
// cpu: 1 as "1". With a bug the property that it breaks is found in 100 runs.
//
//make:campaigns
func TestTenant(t *testing.T) {
	layOut(t, "tenant.txtar")
	code, out := do(t, t.Context(), "init")
	if code != exitBroke || !strings.Contains(out, `always "apply is stable" broke`) ||
		!strings.Contains(out, `spec.quota.cpu is 1, before "1"`) {
		t.Errorf("init: exit code %d:\n%s", code, out)
	}
	for _, cause := range regexp.MustCompile(`\d+ runs: (.*), (?:decided|under) `).FindAllStringSubmatch(out, -1) {
		if cause[1] != "apply is stable" {
			t.Errorf("init also finds that %q is broken:\n%s", cause[1], out)
		}
	}
	for _, said := range []string{
		"guess: POD_NAMESPACE is tenant-system, because config/default takes it from metadata.namespace of the Pod",
		"guess: what billing.acme.svc answers is not known",
		"faults injected, by line that sends requests", "writes in the source that no run has sent",
		"rights that no run has used",
	} {
		if !strings.Contains(out, said) {
			t.Errorf("init does not say %s:\n%s", said, out)
		}
	}
	for bug, property := range map[string]string{"5": "no writes at rest", "9": "ready means done"} {
		forgetStories(t)
		t.Setenv("BUG", bug)
		code, out := do(t, t.Context(), "run", "./...", "--runs", "100", "--procs", "1", "--keep-going")
		if code != exitBroke || !strings.Contains(out, " × "+property) {
			t.Errorf("bug %s: exit code %d, and %q is not broken:\n%s", bug, code, property, out)
		}
	}
	t.Setenv("BUG", "")
	forgetStories(t)
	role := filepath.Join("config", "rbac", "role.yaml")
	data, err := os.ReadFile(role)
	if err == nil {
		err = os.WriteFile(role, []byte(strings.Replace(string(data), ", resourcequotas", "", 1)), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	code, out = do(t, t.Context(), "run", "./...", "--runs", "1", "--procs", "1")
	if code != exitBroke || !strings.Contains(out, "tenant may not list ResourceQuota") {
		t.Errorf("without a rule: exit code %d:\n%s", code, out)
	}
}

func forgetStories(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll("cmd/testdata"); err != nil {
		t.Fatal(err)
	}
}
