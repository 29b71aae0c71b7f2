// These tests install, upgrade, roll back and uninstall a chart by the Helm SDK. The chart has a
// definition, objects of the type that it defines, a hook and a namespace of its own.

package helmtest

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/chart/common"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/models/apiserver/serve"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.x.example}
spec:
  group: x.example
  scope: Namespaced
  names: {plural: foos, singular: foo, kind: Foo, listKind: FooList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

const foo = `
apiVersion: x.example/v1
kind: Foo
metadata: {name: f}
spec: {size: {{ .Values.size }}}
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: "i:{{ .Values.size }}"}]}
`

const hook = `
apiVersion: batch/v1
kind: Job
metadata:
  name: hook
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec:
  template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}
`

var (
	foos        = schema.GroupVersionResource{Group: "x.example", Version: "v1", Resource: "foos"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	jobs        = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
)

func newChart() *chart.Chart {
	file := func(name, text string) *common.File { return &common.File{Name: name, Data: []byte(text)} }
	return &chart.Chart{
		Metadata: &chart.Metadata{APIVersion: "v2", Name: "app", Version: "0.1.0"},
		Templates: []*common.File{file("templates/foo.yaml", foo), file("templates/deployment.yaml", deployment),
			file("templates/hook.yaml", hook)},
		Files: []*common.File{file("crds/foo.yaml", definition)},
	}
}

// world is one server with what a chart expects of a cluster: a controller that runs Jobs.
type world struct {
	t       *testing.T
	objects dynamic.Interface
	flags   *genericclioptions.ConfigFlags
}

func newWorld(t *testing.T) *world {
	s := serve.New(apiserver.New(apiserver.Options{Now: time.Now, Seed: 1}))
	check(t, s.Start())
	t.Cleanup(func() { _ = s.Stop() })
	file := filepath.Join(t.TempDir(), "config")
	check(t, s.WriteKubeconfig(file))
	flags, ns := genericclioptions.NewConfigFlags(false), "apps"
	flags.KubeConfig, flags.Namespace = &file, &ns
	w := &world{t: t, objects: dynamic.NewForConfigOrDie(s.Config()), flags: flags}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.runJobs(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return w
}

// runJobs completes every job that it finds.
func (w *world) runJobs(ctx context.Context) {
	for ctx.Err() == nil {
		list, err := w.objects.Resource(jobs).List(ctx, metav1.ListOptions{})
		if err != nil {
			return
		}
		for _, job := range list.Items {
			if _, finished, _ := unstructured.NestedSlice(job.Object, "status", "conditions"); finished {
				continue
			}
			now := time.Now().UTC().Format(time.RFC3339)
			patch := `{"status":{"succeeded":1,` +
				`"startTime":"` + now + `","completionTime":"` + now + `","conditions":[` +
				`{"type":"SuccessCriteriaMet","status":"True"},{"type":"Complete","status":"True"}]}}`
			if _, err := w.objects.Resource(jobs).Namespace(job.GetNamespace()).Patch(ctx, job.GetName(),
				types.MergePatchType,
				[]byte(patch), metav1.PatchOptions{}, "status"); err != nil && ctx.Err() == nil {
				w.t.Errorf("completing job %s: %v", job.GetName(), err)
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// expect looks at what the release has made of the cluster.
func (w *world) expect(size int64, image string) {
	w.t.Helper()
	ctx := w.t.Context()
	f, err := w.objects.Resource(foos).Namespace("apps").Get(ctx, "f", metav1.GetOptions{})
	check(w.t, err)
	if got, _, _ := unstructured.NestedInt64(f.Object, "spec", "size"); got != size {
		w.t.Errorf("foo has size %d, want %d", got, size)
	}
	d, err := w.objects.Resource(deployments).Namespace("apps").Get(ctx, "d", metav1.GetOptions{})
	check(w.t, err)
	containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
	if got := containers[0].(map[string]any)["image"]; got != image {
		w.t.Errorf("the deployment has image %v, want %s", got, image)
	}
}

func TestHelm(t *testing.T) {
	for _, serverSide := range []bool{true, false} {
		name := map[bool]string{true: "server-side", false: "client-side"}[serverSide]
		t.Run(name, func(t *testing.T) { testHelm(t, serverSide) })
	}
}

func testHelm(t *testing.T, serverSide bool) {
	w := newWorld(t)
	cfg := action.NewConfiguration(action.ConfigurationSetLogger(slog.NewTextHandler(io.Discard, nil)))
	check(t, cfg.Init(w.flags, "apps", "secret"))
	install := action.NewInstall(cfg)
	install.ReleaseName, install.Namespace, install.CreateNamespace = "app", "apps", true
	install.ServerSideApply, install.WaitStrategy, install.Timeout = serverSide, kube.HookOnlyStrategy, time.Minute
	_, err := install.Run(newChart(), map[string]any{"size": 1})
	check(t, err)
	w.expect(1, "i:1")
	_, err = w.objects.Resource(namespaces).Get(t.Context(), "apps", metav1.GetOptions{})
	check(t, err)

	if _, err := install.Run(newChart(), map[string]any{"size": 1}); err == nil {
		t.Error("a name can be installed twice")
	}

	upgrade := action.NewUpgrade(cfg)
	upgrade.Namespace, upgrade.WaitStrategy, upgrade.Timeout = "apps", kube.HookOnlyStrategy, time.Minute
	_, err = upgrade.Run("app", newChart(), map[string]any{"size": 2})
	check(t, err)
	w.expect(2, "i:2")

	rollback := action.NewRollback(cfg)
	rollback.Version, rollback.WaitStrategy, rollback.Timeout = 1, kube.HookOnlyStrategy, time.Minute
	check(t, rollback.Run("app"))
	w.expect(1, "i:1")

	w.expectReleases(3)

	uninstall := action.NewUninstall(cfg)
	uninstall.WaitStrategy, uninstall.Timeout = kube.HookOnlyStrategy, time.Minute
	_, err = uninstall.Run("app")
	check(t, err)
	w.expectNothing()
}

// expectReleases counts what Helm remembers.
func (w *world) expectReleases(n int) {
	w.t.Helper()
	releases, err := w.objects.Resource(secrets).Namespace("apps").List(w.t.Context(),
		metav1.ListOptions{LabelSelector: "owner=helm,name=app"})
	check(w.t, err)
	if len(releases.Items) != n {
		w.t.Errorf("%d release secrets, want %d", len(releases.Items), n)
	}
}

// expectNothing looks at what an uninstall has left: the definition stays, its objects go.
func (w *world) expectNothing() {
	w.t.Helper()
	for _, kind := range []schema.GroupVersionResource{foos, deployments} {
		left, err := w.objects.Resource(kind).Namespace("apps").List(w.t.Context(), metav1.ListOptions{})
		check(w.t, err)
		if len(left.Items) != 0 {
			w.t.Errorf("%d %s are left", len(left.Items), kind.Resource)
		}
	}
	w.expectReleases(0)
}
