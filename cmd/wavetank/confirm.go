package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/wavetank/wavetank/internal/story"
)

func confirmCommand() *cobra.Command {
	attempts, verbose, mark, free, child := 0, false, false, false, false
	var given serverFlags
	cmd := &cobra.Command{
		Use:   "confirm story.txtar|directory …",
		Short: "Hold a real kube-apiserver to stories: exit code 1 if one is not confirmed",
		Long: "Starts etcd and kube-apiserver and runs the scenario of each story against them, in real\n" +
			"time and in the order of the story. A story is confirmed if the real run violates the same\n" +
			"property for the same objects and the same workload without faults does not.\n" +
			"KUBEBUILDER_ASSETS names the directory of etcd and kube-apiserver.",
		Example: "  wavetank confirm --attempts 5 testdata/sim/TestPromoteOnce/0ad58962.txtar",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("attempts") && free:
				attempts = 10
			case !cmd.Flags().Changed("attempts"):
				attempts = 1
			case attempts < 1:
				return fmt.Errorf("--attempts %d tries nothing; give it 1 or more", attempts)
			}
			extra := []string{fmt.Sprintf("-sim.attempts=%d", attempts)}
			if free {
				extra = append(extra, "-sim.free")
			}
			if verbose {
				extra = append(extra, "-sim.v")
			}
			if child {
				extra = append(extra, "-sim.child")
			}
			if mark {
				extra = append(extra, "-sim.mark")
			}
			return confirmAll(cmd, args, given, extra)
		},
	}
	cmd.Flags().IntVar(&attempts, "attempts", 0,
		"how often each story is tried (1), or with --free how many runs are made under each condition (10)")
	cmd.Flags().BoolVar(&free, "free", false,
		"do not hold the server to the order of the stories; estimate how often runs violate their properties")
	cmd.Flags().BoolVar(&child, "child", false,
		"run each incarnation of the operator in a process of its own: a crash loses package variables, too")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "print every step of the stories")
	cmd.Flags().BoolVar(&mark, "mark", false, "note the server's version in confirmed stories; pages show it")
	cmd.Flags().StringVar(&given.kubeconfig, "kubeconfig", "",
		"kubeconfig of a throw-away API server to use in place of a new one: runs create and delete objects there")
	cmd.Flags().StringVar(&given.context, "context", "", "with --kubeconfig, the context in it that names that server")
	return cmd
}

// serverFlags name a server that runs already.
type serverFlags struct{ kubeconfig, context string }

// write writes a kubeconfig of the server alone. The context must be named, because the current one
// of a kubeconfig may be that of a cluster which is in use.
func (s serverFlags) write(path string) error {
	text, err := os.ReadFile(s.kubeconfig)
	if err != nil {
		return err
	}
	var config struct {
		Contexts []struct {
			Name string `json:"name"`
		} `json:"contexts"`
	}
	var all map[string]any
	if err := errors.Join(yaml.Unmarshal(text, &config), yaml.Unmarshal(text, &all)); err != nil {
		return fmt.Errorf("%s: %w", s.kubeconfig, err)
	}
	var names []string
	for _, c := range config.Contexts {
		names = append(names, c.Name)
	}
	if !slices.Contains(names, s.context) {
		return fmt.Errorf("--context %q names none of the contexts of %s, which are %s; "+
			"name the one of a throw-away API server", s.context, s.kubeconfig, strings.Join(names, ", "))
	}
	all["current-context"] = s.context
	if text, err = yaml.Marshal(all); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

func confirmAll(cmd *cobra.Command, paths []string, given serverFlags, extra []string) error {
	paths, err := storiesIn(paths)
	if err != nil {
		return err
	}
	if given.kubeconfig == "" {
		if err := findAssets(); err != nil {
			return err
		}
	}
	r, err := newReplayer(cmd, extra)
	if err != nil {
		return err
	}
	defer r.close()
	kubeconfig := filepath.Join(r.tmp, "kubeconfig")
	if given.kubeconfig != "" {
		if err := given.write(kubeconfig); err != nil {
			return err
		}
	} else {
		stop, err := r.controlPlane(paths[0], kubeconfig)
		if err != nil {
			return err
		}
		defer stop()
	}
	r.extra = append(r.extra, "-sim.confirm="+kubeconfig)
	all := true
	for _, path := range paths {
		said, err := r.replay(path, cmd.OutOrStdout())
		if err != nil {
			return err
		}
		all = all && (slices.Equal(said, []string{"confirmed"}) || slices.Equal(said, []string{"estimated"}))
	}
	if !all {
		return errBroke
	}
	return nil
}

// defaultAssets is where envtest looks if KUBEBUILDER_ASSETS is not set.
const defaultAssets = "/usr/local/kubebuilder/bin"

// findAssets says what is missing for a control plane, and how to get it.
func findAssets() error {
	if runtime.GOOS == "windows" {
		return errors.New("no control plane can be started on Windows, because controller-runtime's envtest does not " +
			"compile there; use a running server: --kubeconfig <file> --context <name>")
	}
	dir := cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), defaultAssets)
	for _, name := range []string{"etcd", "kube-apiserver"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("no %s in %s; set KUBEBUILDER_ASSETS to a directory that has etcd and kube-apiserver, "+
				"for example to what \"setup-envtest use -p path\" prints: "+
				"go install sigs.k8s.io/controller-runtime/tools/setup-envtest@latest", name, dir)
		}
	}
	return nil
}

// controlPlane builds and starts a control plane with the modules of a story's package. stop ends
// it, and waits until nothing of it is left.
func (r *replayer) controlPlane(path, kubeconfig string) (stop func(), err error) {
	s, err := story.Read(path)
	if err != nil {
		return nil, err
	}
	ctx, errs := r.cmd.Context(), r.cmd.ErrOrStderr()
	binary := filepath.Join(r.tmp, "controlplane")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/wavetank/wavetank/sim/controlplane")
	build.Dir = directory(path, s.Package)
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the control plane's starter does not build: %w\n%s", err, out)
	}
	// It is not given the context: a killed starter would leave the control plane behind.
	plane := exec.Command(binary, kubeconfig, r.tmp)
	plane.Env = append(os.Environ(), "TMPDIR="+r.tmp) // so either of the two removes all
	var said bytes.Buffer
	plane.Stderr = &said
	apart(plane)
	in, err := plane.StdinPipe()
	if err == nil {
		err = plane.Start()
	}
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- plane.Wait() }()
	stop = func() {
		in.Close()
		if err := <-ended; err != nil {
			fmt.Fprintf(errs, "the control plane ended with %v\n%s", err, said.String())
		}
	}
	if err := awaitFile(ctx, kubeconfig, ended); err != nil {
		if !errors.Is(err, errEnded) {
			stop()
			return nil, err
		}
		return nil, errors.New(strings.TrimSpace(said.String()))
	}
	return stop, nil
}

// errEnded says that the control plane has ended before it was ready.
var errEnded = errors.New("the control plane has ended")

// awaitFile waits for a file that another process writes.
func awaitFile(ctx context.Context, path string, ended <-chan error) error {
	for {
		if _, err := os.Stat(path); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errInterrupted
		case <-ended:
			return errEnded
		case <-time.After(50 * time.Millisecond):
		}
	}
}
