package host

import "testing"

// The test binary of a package main is built from the path of the package itself.
func TestPackageOf(t *testing.T) {
	for path, want := range map[string]string{"example.com/a/b.test": "example.com/a/b",
		"example.com/a/cmd":           "example.com/a/cmd",
		"command-line-arguments.test": ".", "": "."} {
		if got := packageOf(path); got != want {
			t.Errorf("the package of %q is %q, want %q", path, got, want)
		}
	}
}
