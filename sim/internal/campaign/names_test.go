package campaign

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

func TestACampaignBelongsToItsTest(t *testing.T) {
	for campaign, want := range map[string]string{"TestA": "TestA", "TestA~12": "TestA", "a ~ b": "a ~ b"} {
		if got := testOf(campaign); got != want {
			t.Errorf("%q belongs to %q, want %q", campaign, got, want)
		}
	}
}
