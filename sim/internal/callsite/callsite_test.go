package callsite

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const operator = `package controller

func (r *ThingReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if gone {
		return r.finalize(ctx, &thing)
	}
	if err := r.Create(ctx, child); err != nil { // line 7
		return ctrl.Result{}, err
	}
	handlers := []func(context.Context){helper}
	return ctrl.Result{}, r.Status().Update(ctx, // line 11
		&thing)
}

func (r *ThingReconciler) finalize(ctx context.Context, t *Thing) error {
	if err := r.Client.Delete(ctx, child); err != nil { // line 16
		return err
	}
	r.Patch(ctx, t) // a method of its own
	r.billing.Delete(ctx, t.ID) // no client of Kubernetes
	m.Update(key, value)
	return r.Update(ctx, t) // line 22
}

func (r *ThingReconciler) Patch(ctx context.Context, t *Thing) {
	r.writer.Patch(ctx, t, patch) // line 26
}

func helper(ctx context.Context) {
	set.CoreV1().Pods("default").Create(context.Background(), pod) // line 30
	controllerutil.CreateOrUpdate(ctx, c, o, func() error { // line 31
		return nil
	})
}

func unused(ctx context.Context, c client.Client) { c.Delete(ctx, o) }
`

const another = `package controller

func (r *OtherReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, r.Update(ctx, o)
}
`

// Only writes that the reconciler under test may reach count, by whatever client.
func TestWritesOfTheReconcilerUnderTest(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "internal", "controller")
	write(t, filepath.Join(root, "go.mod"), "module example.com/thing\n")
	write(t, filepath.Join(dir, "thing.go"), operator)
	write(t, filepath.Join(dir, "other.go"), another)
	write(t, filepath.Join(dir, "broken.go"), "package controller\nfunc {")
	write(t, filepath.Join(dir, "thing_test.go"), strings.ReplaceAll(operator, "Thing", "Tested"))
	write(t, filepath.Join(dir, "thing_plan9.go"), strings.ReplaceAll(operator, "Thing", "Plan9"))
	if got := Root(dir); got != root {
		t.Fatalf("the module is in %s, expected %s", got, root)
	}
	var got []string
	for _, c := range Find(root, []string{"internal/controller/thing.go:12", "elsewhere/lib.go:3"}) {
		if c.Controller != "ThingReconciler" {
			t.Errorf("%+v is of another controller", c)
		}
		got = append(got, fmt.Sprintf("%s-%d %s", strings.TrimPrefix(c.Source, "internal/controller/thing.go:"), c.End,
			c.Function))
	}
	want := []string{
		"7-7 (ThingReconciler).Reconcile", "11-12 (ThingReconciler).Reconcile",
		"16-16 (ThingReconciler).finalize", "22-22 (ThingReconciler).finalize",
		"30-30 helper", "31-33 helper", "26-26 (ThingReconciler).Patch",
	}
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := Find(root, []string{"internal/controller/thing.go:1"}); len(got) > 0 {
		t.Errorf("no reconciler has sent anything, and found are %+v", got)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
