//go:build unix

package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/child"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// counted is how many ConfigMaps this process has tried to make.
var counted int

// counts makes a ConfigMap with a number for each that it is given. The number is a package
// variable's.
func counts(ctx context.Context, cfg *rest.Config) error {
	mgr, err := NewManager(cfg, ctrl.Options{})
	if err != nil {
		return err
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Named("counter").Complete(reconcile.Func(
		func(ctx context.Context, req request) (reconcile.Result, error) {
			if req.Name != "a" {
				return reconcile.Result{}, nil
			}
			counted++
			made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace,
				Name: fmt.Sprint("made-", counted)}}
			return reconcile.Result{}, client.IgnoreAlreadyExists(mgr.GetClient().Create(ctx, made))
		}))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// An incarnation in a process of its own takes its requests and its dequeues through the world. A
// crash ends the process, and its package variables with it. It ends by SIGTERM, too.
func TestIncarnationInAProcess(t *testing.T) {
	if os.Getenv("WAVETANK_TEST_FAR") != "" {
		Seed(t, 1)
		h, err := Hosts()
		if err != nil {
			t.Fatal(err)
		}
		h.Serve(counts, Settings{}, apiserver.New(apiserver.Options{Now: time.Now}).Mapper(), logr.Discard(),
			func(error) bool { return false })
	}
	t.Setenv("TMPDIR", t.TempDir())
	Seed(t, 1)
	w := newWorld()
	w.Sched.Wait = sched.AwaitQuiet
	w.Children = &child.Launcher{Refused: func(why string) { t.Fatal(why) }, Launch: child.Launch{Paced: true},
		Command: func() *exec.Cmd {
			cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			cmd.Env = append(os.Environ(), "WAVETANK_TEST_FAR=1")
			return cmd
		}}
	w.create(t, "/api/v1/namespaces/default/configmaps",
		`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`)
	p := w.Start("op", nil, Settings{})
	defer w.Teardown(w.Sched.Wait)
	creates := func() (out []string) {
		for _, e := range w.History.Events {
			if e.Kind == history.Request && e.Verb == "create" && e.Process == "op" {
				out = append(out, fmt.Sprintf("%s %s by %s: %d", e.Ref.Name, e.Reconcile, e.Actor(), e.Code))
			}
		}
		return out
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for began := time.Now(); !done(); w.Sched.Step(w.Sched.Now() + 20*time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("after a minute: no %s; the requests are %q, dequeued is %q", what, creates(), w.dequeued)
			}
		}
	}
	until("create", func() bool { return len(creates()) == 1 })
	p.restarts.Fresh() // the next incarnation begins at once
	p.Current().Kill()
	until("create after a crash", func() bool { return len(creates()) == 2 })
	want := []string{"made-1 counter default/a #1 by op/1: 201", "made-1 counter default/a #1 by op/2: 409"}
	if got := creates(); !slices.Equal(got, want) {
		t.Errorf("the requests are %q, want %q", got, want)
	}
	if first := "op/1 counter default/a"; !slices.Contains(w.dequeued, first) {
		t.Errorf("dequeued is %q, without %q", w.dequeued, first)
	}
	w.gone = true
	second := p.Current().far.child
	p.Current().Stop()
	until("end", func() bool { return len(w.exits) > 0 })
	if second.Stop(); w.exits[0] != nil || p.Incarnations() != 2 {
		t.Errorf("it ends with %v", w.exits)
	}
	left, err := filepath.Glob(filepath.Join(os.TempDir(), "incarnation*"))
	if err != nil || len(left) > 0 {
		t.Errorf("its temporary files: %q (%v), want that they are gone", left, err)
	}
}
