package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// changedNames returns the exported names that the module in root has added, changed or removed
// since the newest release in its history, as apidiff finds them. There are none before the first
// release.
func changedNames(root, module string) (names []string, err error) {
	tag, err := git(root, "describe", "--tags", "--abbrev=0", "--match", "v*")
	if err != nil {
		return nil, nil
	}
	tmp, err := os.MkdirTemp("", "release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp) //nolint:errcheck // a leftover in a temporary directory
	before, export := filepath.Join(tmp, "before"), filepath.Join(tmp, "before.api")
	if _, err := git(root, "worktree", "add", "--detach", before, tag); err != nil {
		return nil, fmt.Errorf("checking out %s: %w", tag, err)
	}
	defer git(root, "worktree", "remove", "--force", before) //nolint:errcheck // git worktree prune does the rest
	if _, err := apidiff(before, "-m", "-w", export, module); err != nil {
		return nil, err
	}
	found, err := apidiff(root, "-m", export, module)
	for line := range strings.Lines(found) {
		if m := change.FindStringSubmatch(line); m != nil && !strings.HasSuffix(m[1], "test") {
			names = append(names, m[2])
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// change is a line of apidiff with a package and a name in it. The name may have a type before it.
var change = regexp.MustCompile(`^- \./([\w/]+)\.(?:\(\*?\w+\)\.|\w+\.)?(\w+): `)

// apidiff runs the version of apidiff that hack/tools pins.
func apidiff(dir string, args ...string) (string, error) {
	tools, err := filepath.Abs(filepath.Join(checkout, "hack", "tools"))
	if err != nil {
		return "", err
	}
	tool, err := output(tools, "go", "tool", "-n", "apidiff")
	if err != nil {
		return "", err
	}
	return output(dir, strings.TrimSpace(tool), args...)
}

func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, failure.String())
	}
	return string(out), nil
}

// apiInChangelog returns an error if the newest entry of the changelog leaves out a name that has
// changed.
func apiInChangelog(root, _ string) error {
	names, err := changedNames(root, modulePath)
	if err != nil {
		return err
	}
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if missing := unnamed(names, string(changelog)); len(missing) > 0 {
		return fmt.Errorf("the newest entry of CHANGELOG.md does not name exported names that have changed: %s",
			strings.Join(missing, ", "))
	}
	return nil
}

// unnamed returns the names that the newest entry of a changelog does not mention.
func unnamed(names []string, changelog string) []string {
	entry := newestEntry(changelog)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return regexp.MustCompile(`\b` + name + `\b`).MatchString(entry)
	})
}
