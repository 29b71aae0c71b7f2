// This file exists for what sim/adapter.go promises to hosts; sim/simginkgo proves the rest on a real one.

package sim

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestStoriesStayUnderTestdata(t *testing.T) {
	root := filepath.Join("testdata", "sim")
	for name, want := range map[string]string{
		"TestA/of b":              filepath.Join(root, "TestA", "of_b"),
		"A spec doesn't do it":    filepath.Join(root, "A_spec_doesn_t_do_it"),
		"reads ../../../etc/file": filepath.Join(root, "reads__", "_", "_", "etc", "file"),
		"a second one~2":          filepath.Join(root, "a_second_one~2"),
	} {
		if got := storyDir(name); got != want {
			t.Errorf("%q is kept in %s, want %s", name, got, want)
		}
	}
	long := strings.Repeat("word ", 100)
	if got := filepath.Base(storyDir(long)); len(got) > 200 || got == filepath.Base(storyDir(long+"more")) {
		t.Errorf("a long name becomes %q", got)
	}
}

func TestFailWithoutARun(t *testing.T) {
	if Fail("nowhere:1", "no run is under way") {
		t.Error("Fail says that it ended a run")
	}
}

func TestMessagesRepeat(t *testing.T) {
	got := repeatable("Expected\n    <*v1.Pod | 0xc000123abc>: failed at /somewhere/src/a_test.go:25 with: 0x1f\n")
	if want := "Expected\n    <*v1.Pod | 0x…>: failed at a_test.go:25 with: 0x1f"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACampaignBelongsToItsTest(t *testing.T) {
	for campaign, want := range map[string]string{"TestA": "TestA", "TestA~12": "TestA", "a ~ b": "a ~ b"} {
		if got := testOf(campaign); got != want {
			t.Errorf("%q belongs to %q, want %q", campaign, got, want)
		}
	}
}
