// Package project lays out the operators that wavetank init is measured on. They follow the
// documentation of kubebuilder and operator-sdk, and do not import Wavetank.
//
// Each is a txtar archive over kubebuilder.txtar, the scaffold that all share. The comment at its
// top tells what the operator has. A file of the archive replaces the one of the scaffold; an empty
// file removes it. A file named "path at text" is inserted into the scaffold's file before the line
// that has the text, which is usually one of kubebuilder's markers. The archives leave out what
// "make generate manifests" makes from the code: see Generate.
package project

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

const scaffold = "kubebuilder"

//go:embed *.txtar
var archives embed.FS

// Names returns the names of the projects, in order.
func Names() (names []string) {
	entries, _ := archives.ReadDir(".")
	for _, e := range entries {
		if name := strings.TrimSuffix(e.Name(), ".txtar"); name != scaffold {
			names = append(names, name)
		}
	}
	return names
}

// repo is the line of PROJECT that has the module's path.
var repo = regexp.MustCompile(`(?m)^repo: (.+)$`)

// Write writes the files of a project below dir.
func Write(dir, name string) error {
	base, err := read(scaffold)
	if err != nil {
		return err
	}
	overlay, err := read(name)
	if err != nil {
		return err
	}
	files := map[string]string{}
	for _, f := range overlay.Files {
		if m := repo.FindSubmatch(f.Data); f.Name == "PROJECT" && m != nil {
			for _, b := range base.Files {
				files[b.Name] = strings.ReplaceAll(string(b.Data), "example.com/project", string(m[1]))
			}
		}
		if err := add(files, f); err != nil {
			return fmt.Errorf("project %s: %w", name, err)
		}
	}
	for path, text := range files {
		if err := write(filepath.Join(dir, path), []byte(text)); err != nil {
			return fmt.Errorf("project %s: %w", name, err)
		}
	}
	return nil
}

func read(name string) (*txtar.Archive, error) {
	data, err := archives.ReadFile(name + ".txtar")
	if err != nil {
		return nil, fmt.Errorf("there is no project %q: %w", name, err)
	}
	return txtar.Parse(data), nil
}

// add adds a file of an overlay, or inserts it.
func add(files map[string]string, f txtar.File) error {
	path, at, inserts := strings.Cut(f.Name, " at ")
	switch {
	case inserts:
		before, after, ok := strings.Cut(files[path], at)
		if !ok || strings.Contains(after, at) {
			return fmt.Errorf("%s of the scaffold does not have %q exactly once", path, at)
		}
		line := strings.LastIndex(before, "\n") + 1
		files[path] = before[:line] + string(f.Data) + before[line:] + at + after
	case len(f.Data) == 0:
		delete(files, path)
	default:
		files[path] = string(f.Data)
	}
	return nil
}

// write writes a file. Go files are formatted, because imports are inserted without an order.
func write(path string, data []byte) (err error) {
	if strings.HasSuffix(path, ".go") {
		if data, err = format.Source(data); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, data, 0o666))
}

// Generate does what "go mod tidy" and "make generate manifests" do in a project: deep copies,
// definitions, roles and webhook configurations are made from its code. The checkout is the
// directory of this repository, which pins controller-gen.
func Generate(ctx context.Context, checkout, dir string) error {
	generator, err := run(ctx, filepath.Join(checkout, "hack", "tools"), "go", "tool", "-n", "controller-gen")
	if err != nil {
		return err
	}
	if _, err := run(ctx, dir, "go", "mod", "tidy"); err != nil {
		return err
	}
	_, err = run(ctx, dir, strings.TrimSpace(generator), "object", "crd:maxDescLen=0", "webhook",
		"rbac:roleName=manager-role", "paths=./...", "output:crd:artifacts:config=config/crd/bases")
	return err
}

func run(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s in %s: %w\n%s", name, strings.Join(args, " "), dir, err, failure.String())
	}
	return string(out), nil
}
