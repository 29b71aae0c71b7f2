package helmtest

// The same by Helm 3, which operators have in them still: it patches from the client, with
// three-way merges.

import (
	"testing"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func newChart3() *chart.Chart {
	file := func(name, text string) *chart.File { return &chart.File{Name: name, Data: []byte(text)} }
	return &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "app", Version: "0.1.0"},
		Templates: []*chart.File{file("templates/foo.yaml", foo), file("templates/deployment.yaml", deployment),
			file("templates/hook.yaml", hook)},
		Files: []*chart.File{file("crds/foo.yaml", definition)},
	}
}

func TestHelm3(t *testing.T) {
	w := newWorld(t)
	cfg := new(action.Configuration)
	check(t, cfg.Init(w.flags, "apps", "secret", func(string, ...any) {}))
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.Timeout = "app", "apps", true, time.Minute
	_, err := install.Run(newChart3(), map[string]any{"size": 1})
	check(t, err)
	w.expect(1, "i:1")
	_, err = w.objects.Resource(namespaces).Get(t.Context(), "apps", metav1.GetOptions{})
	check(t, err)
	hooked, err := w.objects.Resource(jobs).Namespace("apps").Get(t.Context(), "hook", metav1.GetOptions{})
	check(t, err)

	if _, err := install.Run(newChart3(), map[string]any{"size": 1}); err == nil {
		t.Error("a name can be installed twice")
	}

	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.Timeout = "apps", time.Minute
	_, err = upgrade.Run("app", newChart3(), map[string]any{"size": 2})
	check(t, err)
	w.expect(2, "i:2")
	again, err := w.objects.Resource(jobs).Namespace("apps").Get(t.Context(), "hook", metav1.GetOptions{})
	check(t, err)
	if hooked.GetUID() == again.GetUID() {
		t.Error("the hook of the upgrade is the one of the install")
	}

	rollback := action.NewRollback(cfg)
	rollback.Version, rollback.Timeout = 1, time.Minute
	check(t, rollback.Run("app"))
	w.expect(1, "i:1")
	w.expectReleases(3)

	uninstall := action.NewUninstall(cfg)
	uninstall.Timeout = time.Minute
	_, err = uninstall.Run("app")
	check(t, err)
	w.expectNothing()
}
