package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// check says everything that is missing for a release, or prints how to tag it.
func check(root, version string, out io.Writer) error {
	if semver.Canonical(version) != version {
		return fmt.Errorf("VERSION=%s is no version; write VERSION=v0.1.0, for example", version)
	}
	var wrong []error
	for _, look := range []func(root, version string) error{
		clean, inChangelog, modulesAgree, apiInChangelog, docsFresh,
	} {
		if err := look(root, version); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 {
		return errors.Join(wrong...)
	}
	if err := consume(root, version); err != nil {
		return fmt.Errorf("a stranger cannot use it: %w", err)
	}
	fmt.Fprintln(out, "everything is there; tag it, in this order:")
	for _, dir := range released {
		tag := strings.TrimPrefix(dir+"/"+version, "./")
		fmt.Fprintf(out, "  git tag -a %s -m %q\n", tag, "Wavetank "+version)
	}
	fmt.Fprintln(out, "  git push --follow-tags")
	return nil
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// clean reports whether everything is committed, and the tag is free.
func clean(root, version string) error {
	if changed, err := git(root, "status", "--porcelain"); err != nil {
		return fmt.Errorf("git status: %w", err)
	} else if changed != "" {
		return fmt.Errorf("these files are not committed: commit or remove them\n%s", changed)
	}
	if tag, _ := git(root, "tag", "--list", version); tag != "" {
		return fmt.Errorf("the tag %s is there already", version)
	}
	return nil
}

// newestEntry is the first entry of a changelog, from its version on.
func newestEntry(changelog string) string {
	_, entry, _ := strings.Cut(changelog, "\n## ")
	entry, _, _ = strings.Cut(entry, "\n## ")
	return entry
}

// inChangelog reports whether the newest entry of the changelog is this release's, with its date
// and what it means for seeds and stories.
func inChangelog(root, version string) error {
	data, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	entry := newestEntry(string(data))
	number := regexp.QuoteMeta(strings.TrimPrefix(version, "v"))
	if !regexp.MustCompile(`^` + number + ` \([0-9]{4}-[0-9]{2}-[0-9]{2}\)\n`).MatchString(entry) {
		head, _, _ := strings.Cut(entry, "\n")
		return fmt.Errorf("the newest entry of CHANGELOG.md is %q; it must be \"%s (year-month-day)\"", head,
			strings.TrimPrefix(version, "v"))
	}
	if !strings.Contains(entry, "\n### Determinism\n") {
		return errors.New("the newest entry of CHANGELOG.md has no section Determinism")
	}
	return nil
}

// modulesAgree reports whether the modules require one another at this version, and have no
// replace.
func modulesAgree(root, version string) error {
	for _, dir := range released {
		path := filepath.Join(root, dir, "go.mod")
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f, err := modfile.Parse(path, data, nil)
		if err != nil {
			return err
		}
		if len(f.Replace) > 0 {
			return fmt.Errorf("%s has a replace line; those belong into go.work", path)
		}
		for _, r := range f.Require {
			if strings.HasPrefix(r.Mod.Path, modulePath) && r.Mod.Version != version {
				return fmt.Errorf("%s requires %s; it must be %s, and so in go.work", path, r.Mod, version)
			}
		}
	}
	return nil
}

// docsFresh runs the tests of the pages that are made from the code.
func docsFresh(root, _ string) error {
	cmd := exec.Command("go", "test", "./hack/tidy", "./hack/docs", "./scenarios/internal/catalogue")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("tests of the pages fail: %w\n%s", err, out)
	}
	return nil
}
