package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An estimate comes when a third of the packages are compiled.
func TestProgressOfABuild(t *testing.T) {
	for _, c := range []struct {
		done, total int
		took        time.Duration
		want        string
	}{
		{200, 900, 20 * time.Second, "x: 200 of 900 packages compiled, 20s"},
		{300, 900, 30 * time.Second, "x: 300 of 900 packages compiled, 30s, about 1m0s left"},
		{900, 900, 90 * time.Second, "x: 900 of 900 packages compiled, 1m30s, linking"},
		{901, 900, 90 * time.Second, "x: 900 of 900 packages compiled, 1m30s, linking"},
		{7, 0, time.Second, "x: 7 packages compiled, 1s"},
	} {
		p := newProgress(io.Discard, "x", c.total)
		p.done.Store(int64(c.done))
		if got := p.line(c.took); got != c.want {
			t.Errorf("it says %q, want %q", got, c.want)
		}
	}
}

// smallModule is a module whose packages have not been compiled yet.
func smallModule(t *testing.T, test string) string {
	t.Helper()
	t.Setenv("GOWORK", "off")
	dir, fresh := t.TempDir(), strconv.FormatInt(time.Now().UnixNano(), 10)
	for name, text := range map[string]string{
		"go.mod":      "module example.com/small\n\ngo 1.26.0\n",
		"a/a.go":      "package a\n\nconst N = " + fresh + "\n",
		"b/b.go":      "package b\n\nimport \"example.com/small/a\"\n\nconst N = a.N\n",
		"c/c.go":      "package c\n",
		"c/c_test.go": test,
	} {
		path := filepath.Join(dir, name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const smallTest = "package c\n\nimport (\n\t\"testing\"\n\n\t\"example.com/small/b\"\n)\n\n" +
	"func TestN(t *testing.T) { _ = b.N }\n"

// What is to be compiled is known before, and counted while it is compiled.
func TestBuildCountsPackages(t *testing.T) {
	dir := smallModule(t, smallTest)
	b := testBinary{dir: dir, pkg: "./c", path: filepath.Join(dir, "c.test")}
	total := b.stale(t.Context())
	p := newProgress(io.Discard, "x", total)
	if err := b.build(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if done := int(p.done.Load()); total < 4 || done < total-1 || done > total {
		t.Errorf("%d of %d packages were compiled", done, total)
	}
	if again := b.stale(t.Context()); again > 2 {
		t.Errorf("%d packages are to be compiled after the build", again)
	}
}

// A package that does not compile is named with its error, once.
func TestBuildErrorsAreShownOnce(t *testing.T) {
	dir := smallModule(t, strings.Replace(smallTest, "b.N", "b.M", 1))
	var errs strings.Builder
	err := compile(t.Context(), &errs, testBinary{dir: dir, pkg: "./c", path: filepath.Join(dir, "c.test")})
	if !errors.Is(err, errDoesNotBuild) || strings.Count(errs.String(), "undefined: b.M") != 1 ||
		strings.Contains(errs.String(), "importcfg") {
		t.Errorf("%v, and it says:\n%s", err, errs.String())
	}
}

// A build leaves debug information out, unless the user has flags for the linker.
func TestBuildKeepsLinkerFlags(t *testing.T) {
	for goflags, flags := range map[string][]string{"": nil, "-ldflags=-X=main.v=1": nil, "-race": {"-ldflags=-s"}} {
		t.Setenv("GOFLAGS", goflags)
		args := testBinary{pkg: "./c", path: "c.test", flags: flags}.command(t.Context()).Args
		if got, want := slices.Contains(args, "-ldflags=-w"), goflags == ""; got != want {
			t.Errorf("with GOFLAGS %q and %q: %q", goflags, flags, args)
		}
	}
}
