// This file gives the choices that make a cell fail to tests other than TestMatrix.

package matrix

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/wavetank/wavetank/story"
)

// Choices returns the file whose choices make a variant fail a case. For the default schedule it
// writes a file without choices into a directory.
func (t Table[V]) Choices(name string, v V, dir string) (string, error) {
	cells, err := t.results()
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		if c.Case != name || c.Variant != string(v) {
			continue
		}
		return c.choices(name, dir)
	}
	return "", fmt.Errorf("%q is not run with %s", name, v)
}

func (c *cell) choices(test, dir string) (string, error) {
	if c.Story != "" {
		return filepath.Join(catalogue, c.Story), nil
	}
	if err := c.unexplained(); err != nil {
		return "", err
	}
	none := &story.Story{Test: test, Kind: "always", Property: c.Property}
	path := filepath.Join(dir, c.storyName())
	return path, os.WriteFile(path, none.Encode(), 0o666)
}
