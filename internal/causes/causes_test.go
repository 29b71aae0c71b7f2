package causes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "causes.txt")
	if err := os.WriteFile(path, []byte("# a comment\n\na-bug\n\tcreate\n\t?delete\n\t!update\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	all, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	cause := all["a-bug"]
	if len(all) != 1 || len(cause) != 3 {
		t.Fatalf("read %v", all)
	}
	if got := Compare(cause, "create\ndelete", "create"); len(got) > 0 {
		t.Errorf("what is known is reported: %q", got)
	}
	want := []string{`no sentence of the paragraph matches "create"`, `no line of the message matches "delete"`,
		`a sentence of the paragraph matches "delete", which is marked as missing`,
		`a line of the message matches "update", which is marked as missing`}
	if got := Compare(cause, "create\nupdate", "delete"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(path, []byte("a-bug\n\t(\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil {
		t.Error("an expression that is none is accepted")
	}
}
