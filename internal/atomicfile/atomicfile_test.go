package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "story.txtar"), filepath.Join(dir, "link.txtar")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ write, text string }{{path, "first"}, {path, "second"}, {link, "third"}} {
		if err := Write(step.write, []byte(step.text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != step.text {
			t.Errorf("after %q to %s: %q, %v", step.text, filepath.Base(step.write), got, err)
		}
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is now %v, %v", info, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
	if err := Write(filepath.Join(dir, "missing", "x"), nil); err == nil {
		t.Error("a file was written in a directory that does not exist")
	}
}
