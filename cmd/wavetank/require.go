package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
)

// ginkgoModule is the module for Ginkgo's suites.
const ginkgoModule = simPackage + "/simginkgo"

// require adds the modules that the tests import to go.mod, unless they are there. One that is
// replaced is added by go mod tidy, once a test imports it.
func require(cmd *cobra.Command, dir string, suite bool) error {
	modules := []string{ours}
	if suite {
		modules = append(modules, ginkgoModule)
	}
	for _, m := range modules {
		if goCommand(cmd.Context(), dir, "list", "-m", m) == nil {
			continue
		}
		mod, err := readGoMod(dir)
		if err != nil {
			return err
		}
		if replacement(mod, m) != "" {
			continue
		}
		if beside := besideOurs(mod, dir); m == ginkgoModule && beside != "" {
			fmt.Fprintf(cmd.OutOrStdout(), "go mod edit -replace=%s=%s (next to the directory that replaces %s)\n",
				m, beside, ours)
			if err := goCommand(cmd.Context(), dir, "mod", "edit", "-replace="+m+"="+beside); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(cmd.OutOrStdout(), "go get %s@%s\n", m, released())
		if err := goCommand(cmd.Context(), dir, "get", m+"@"+released()); err != nil {
			return fmt.Errorf("nothing is written, because %s is not in go.mod and go get %[1]s@%s failed. "+
				"If you have a checkout of Wavetank, use it, and run wavetank init again:\n"+
				"  go mod edit -replace=%[3]s=%[4]s\n%[5]w",
				m, released(), ours, checkout(), err)
		}
	}
	return nil
}

// getTests adds what the tests import to go.mod, where go mod tidy fails because of other packages:
// a tool that is not reachable, for example.
func getTests(cmd *cobra.Command, dir string, specs []*spec) error {
	mod, err := readGoMod(dir)
	if err != nil {
		return err
	}
	args, suite := []string{"get", "-t"}, false
	for _, s := range specs {
		suite = suite || s.Suite != ""
		pkg, err := filepath.Rel(dir, filepath.Dir(s.File))
		if err != nil {
			return err
		}
		args = append(args, "./"+filepath.ToSlash(pkg))
	}
	for _, m := range []string{ours, ginkgoModule} {
		required := slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == m })
		if required || replacement(mod, m) == "" || m == ginkgoModule && !suite {
			continue
		}
		// The version by which the go command requires what is replaced.
		version := m + "@v0.0.0-00010101000000-000000000000"
		if err := goCommand(cmd.Context(), dir, "mod", "edit", "-require="+version); err != nil {
			return err
		}
	}
	return goCommand(cmd.Context(), dir, args...)
}

func readGoMod(dir string) (*modfile.File, error) {
	file := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return modfile.Parse(file, data, nil)
}

// replacement is the path of what replaces a module; "" if nothing does.
func replacement(mod *modfile.File, module string) string {
	for _, r := range mod.Replace {
		if r.Old.Path == module {
			return r.New.Path
		}
	}
	return ""
}

// besideOurs is the directory of the module for Ginkgo where a checkout replaces our own module.
func besideOurs(mod *modfile.File, dir string) string {
	to := replacement(mod, ours)
	if !modfile.IsDirectoryPath(to) {
		return ""
	}
	beside := strings.TrimSuffix(filepath.ToSlash(to), "/") + "/sim/simginkgo"
	at := filepath.FromSlash(beside)
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, at)
	}
	if _, err := os.Stat(filepath.Join(at, "go.mod")); err != nil {
		return ""
	}
	return beside
}

// checkout is the directory that this command was built from, if it is there.
func checkout() string {
	_, file, _, _ := runtime.Caller(0)
	dir := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && modfile.ModulePath(data) == ours {
		return dir
	}
	return "/path/to/wavetank"
}

// released is the version of the command, which its sibling modules share.
func released() string {
	if v, _, _ := strings.Cut(version(), ","); strings.HasPrefix(v, "v") && !strings.Contains(v, "+") {
		return v
	}
	return "latest"
}

// goCommand runs the go command in a directory.
func goCommand(ctx context.Context, dir string, args ...string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	if err := runInGroup(ctx, cmd); err != nil {
		return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(said.Bytes()))
	}
	return nil
}
