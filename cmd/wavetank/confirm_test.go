package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/wavetank/wavetank/internal/story"
)

// What is missing for a control plane is named before anything is built.
func TestConfirmNamesWhatIsMissing(t *testing.T) {
	path := write(t, story.Story{Test: "TestX", Package: "x", Kind: "always", Property: "p",
		Replay: "go test x -run '^TestX$' -sim.replay=y"})
	empty := t.TempDir()
	t.Setenv("KUBEBUILDER_ASSETS", empty)
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no etcd in " + empty + "; set KUBEBUILDER_ASSETS", []string{"confirm", path}},
		{"setup-envtest use -p path", []string{"confirm", path}},
		{"--attempts 0 tries nothing", []string{"confirm", "--attempts", "0", path}},
		{"requires at least 1 arg", []string{"confirm"}},
	} {
		if code, out := do(t, t.Context(), c.args...); code != exitUsage || !strings.Contains(out, c.want) {
			t.Errorf("%q exits with %d and prints\n%s\nwant %q", c.args, code, out, c.want)
		}
	}
	if err := os.WriteFile(filepath.Join(empty, "etcd"), nil, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := findAssets(); err == nil || !strings.Contains(err.Error(), "no kube-apiserver in") {
		t.Errorf("with etcd alone: %v", err)
	}
}

// A server that runs already is used only if its context is named.
func TestConfirmNeedsTheContext(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	text := "current-context: production\ncontexts:\n- name: production\n- name: kind-scratch\n"
	if err := os.WriteFile(from, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, context := range []string{"", "other"} {
		err := serverFlags{from, context}.write(to)
		if err == nil || !strings.Contains(err.Error(), "which are production, kind-scratch") {
			t.Errorf("context %q: %v", context, err)
		}
	}
	if err := (serverFlags{from, "kind-scratch"}).write(to); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(to); !strings.Contains(string(got), "current-context: kind-scratch") {
		t.Errorf("the kubeconfig is\n%s", got)
	}
}

// A control plane that ends before it is ready, or an interrupt, ends the wait for it.
func TestAwaitFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "kubeconfig")
	ended := make(chan error, 1)
	ended <- nil
	if err := awaitFile(t.Context(), missing, ended); !errors.Is(err, errEnded) {
		t.Errorf("after the end: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := awaitFile(ctx, missing, nil); !errors.Is(err, errInterrupted) {
		t.Errorf("after an interrupt: %v", err)
	}
}

// A test of sim.Explore may fail after the verdict, because no campaign has found anything.
func TestVerdictOfATestThatFailsCounts(t *testing.T) {
	dir := smallModule(t, "package c\n\nimport (\n\t\"flag\"\n\t\"os\"\n\t\"testing\"\n)\n\n"+
		"var _ = flag.String(\"sim.replay\", \"\", \"\")\n\nfunc TestN(t *testing.T) {\n"+
		"\tos.WriteFile(os.Getenv(\"WAVETANK_REPLAYED\"), []byte(os.Getenv(\"OUTCOME\")), 0o666)\n\tt.Fail()\n}\n")
	t.Chdir(filepath.Join(dir, "c"))
	path := write(t, story.Story{Test: "TestN", Package: "example.com/small/c", Kind: "always", Property: "p",
		Replay: "go test example.com/small/c -run '^TestN$'"})
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetErr(io.Discard)
	r, err := newReplayer(cmd, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.close()
	for outcome, counts := range map[string]bool{"confirmed": true, "not confirmed": true, "cannot be confirmed": true,
		"broke": true, "held": false, "": false} {
		t.Setenv("OUTCOME", outcome)
		if said, err := r.replay(path, io.Discard); counts != (err == nil && slices.Equal(said, []string{outcome})) {
			t.Errorf("outcome %q: %q, %v", outcome, said, err)
		}
	}
}
