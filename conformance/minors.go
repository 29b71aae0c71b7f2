package conformance

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/internal/versions"
)

// minors holds a file for each older minor version of Kubernetes with which the model was compared:
// the rows that differ there and not with [RealVersion].
const minors = "testdata/minors"

// Compared are the older minor versions with which the model was compared, the newest first.
func Compared(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	var out []string
	for _, f := range files {
		out = append(out, strings.TrimSuffix(filepath.Base(f), ".txt"))
	}
	slices.SortFunc(out, func(a, b string) int { return semver.Compare(b, a) })
	return out, err
}

// ModelMinor is the minor version of the k8s.io modules that the model is built with. Their
// validation and defaults are the model's, too.
func ModelMinor() string {
	return strings.Replace(semver.MajorMinor(versions.Module("k8s.io/api", (*corev1.Pod).DeepCopy)), "v0.", "v1.", 1)
}

// Differing are the rows that differ with a minor version and do not with the newest, as "area:
// name"; none if the version was not compared.
func Differing(dir, minor string) ([]string, error) {
	data, err := os.ReadFile(filepath.Join(dir, minor+".txt"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return strings.FieldsFunc(string(data), func(r rune) bool { return r == '\n' }), err
}

// WriteDiffering writes the rows that differ with a minor version.
func WriteDiffering(dir, minor string, rows []string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	slices.Sort(rows)
	return os.WriteFile(filepath.Join(dir, minor+".txt"), []byte(strings.Join(append(rows, ""), "\n")), 0o666)
}
