// This file is the README's example, compiled and run, and what keeps the README true.

package wavetank_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/forge"
	story "github.com/wavetank/wavetank/scenarios/promotion"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

var scheme = runtime.NewScheme()

// variant is the one that the example tests: the full cure, unless a child process is told otherwise.
var variant = cmp.Or(promotion.Variant(os.Getenv("WAVETANK_TEST_VARIANT")), promotion.V8)

func init() {
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
}

// The README shows what is between the two marks.

// readme: begin
func TestPromoteOnce(t *testing.T) {
	sim.Check(t, func(w *sim.World) {
		w.Install("controllers/promotion/crds") // as envtest takes them
		git := forge.New()                      // a model of the outside world, reached over HTTP
		w.External("git.example", git)
		w.Start("pipelines", func(mgr ctrl.Manager) error { // what main does; called afresh after each crash
			return (&promotion.Reconciler{Client: mgr.GetClient(), HTTP: sim.HTTPClient(mgr), Variant: variant}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		w.Inject( // what may happen; where and when is for the search to find
			fault.StaleCache(30*time.Second),
			fault.Crash("pipelines"),
			fault.LostReply(),
		)
		w.Always("each revision takes effect at most once", git.OncePerRevision)
		w.Eventually("staging is offered what dev runs", offered(git))

		w.Apply(story.Namespace("shop"), story.Namespace("dev"), story.Namespace("staging"))
		w.Apply(story.App("dev"), story.App("staging"), story.Pipeline("dev", "staging"))
		report(w, "dev", "v1")
		w.Settle()
		report(w, "dev", "v2") // faults may strike again, and in the first part of the next Settle
		w.Settle()
	})
}

// readme: end

// offered says that there is a pull request for staging with the revision that dev runs.
func offered(git *forge.Forge) func(*history.History) error {
	return func(h *history.History) error {
		for _, o := range h.Objects("kustomize.toolkit.fluxcd.io", "Kustomization") {
			var app struct {
				Status struct{ LastAppliedRevision string }
			}
			if o.Ref.Namespace != "dev" {
				continue
			}
			if err := o.Into(&app); err != nil {
				return err
			}
			for _, pr := range git.PullRequests() {
				if pr.Order.Environment == "staging" && pr.Order.Revision == app.Status.LastAppliedRevision {
					return nil
				}
			}
			return fmt.Errorf("dev runs %s and there is no pull request for staging", app.Status.LastAppliedRevision)
		}
		return fmt.Errorf("there is no application in dev")
	}
}

// report writes the status that Flux writes when an environment runs a revision.
func report(w *sim.World, env, revision string) {
	patch, err := json.Marshal(map[string]any{"status": map[string]any{
		"lastAppliedRevision": revision,
		"conditions": []metav1.Condition{{
			Type: v1alpha1.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Reported", Message: "Applied revision: " + revision,
			LastTransitionTime: metav1.NewTime(time.Now().Truncate(time.Second)),
		}},
	}})
	if err != nil {
		panic(err)
	}
	if err := w.Client().Status().Patch(w.Context(), story.App(env), client.RawPatch(types.MergePatchType, patch)); err != nil {
		panic(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestReadmeShowsTheExample(t *testing.T) {
	_, example, _ := strings.Cut(read(t, "readme_test.go"), "// readme: begin\n")
	example, _, _ = strings.Cut(example, "\n// readme: end")
	if !strings.Contains(read(t, "README.md"), "```go\n"+example+"```") {
		t.Errorf("README.md does not show the example of readme_test.go as it is:\n%s", example)
	}
}

// The example with the variant that the README tells of fails as the README says. The texts are compared where they do
// not depend on which run was found.
func TestReadmeShowsAFailure(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // stories are kept beside the test
	if err := os.Symlink(filepath.Join(here, "controllers"), filepath.Join(dir, "controllers")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestPromoteOnce$")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "WAVETANK_TEST_VARIANT="+string(promotion.V3))
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%s is not caught:\n%s", promotion.V3, out)
	}
	readme := read(t, "README.md")
	for _, part := range []string{
		" broke at step ", "pipelines/1      reconciles pipeline shop/web #", "patch Pipeline shop/web/status → rv ",
		"POST git.example/repos/acme/shop/pulls → ", "shrunk from ", "story:  testdata/sim/TestPromoteOnce/",
		"replay: go test github.com/wavetank/wavetank -run '^TestPromoteOnce$' -sim.replay=testdata/sim/TestPromoteOnce/",
	} {
		if !strings.Contains(string(out), part) {
			t.Errorf("the failure does not say %q:\n%s", part, out)
		}
		if !strings.Contains(readme, part) {
			t.Errorf("README.md does not say %q", part)
		}
	}
}

// Every command and every file that the README names must be there.
func TestReadmeNamesWhatExists(t *testing.T) {
	makefile := "\n" + read(t, "Makefile") + read(t, "conformance/conformance.mk") + read(t, "hack/envtest/envtest.mk")
	for i, line := range strings.Split(read(t, "README.md"), "\n") {
		for _, part := range strings.Split(line, "`make ")[1:] {
			target := strings.FieldsFunc(part, func(r rune) bool { return r == '`' || r == ' ' })[0]
			if !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("README.md:%d names make %s, which the Makefile does not have", i+1, target)
			}
		}
		for _, part := range strings.Split(line, "](")[1:] {
			link, _, _ := strings.Cut(part, ")")
			if _, err := os.Stat(link); err != nil && !strings.Contains(link, "://") {
				t.Errorf("README.md:%d links to %s, which is not there", i+1, link)
			}
		}
	}
}
