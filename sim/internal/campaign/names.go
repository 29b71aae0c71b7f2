package campaign

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/host"
)

// campaigns counts the campaigns of each test that is under way, so that the second one in a test
// has a name of its own.
var campaigns = struct {
	sync.Mutex
	n map[string]int
}{n: map[string]int{}}

// nameOf counts a campaign of a test and names it.
func nameOf(h host.Host) string {
	name := h.Name()
	campaigns.Lock()
	defer campaigns.Unlock()
	campaigns.n[name]++
	n := campaigns.n[name]
	if n > 1 {
		return fmt.Sprintf("%s~%d", name, n)
	}
	h.Cleanup(func() {
		campaigns.Lock()
		defer campaigns.Unlock()
		delete(campaigns.n, name)
	})
	return name
}

// storyDir is where Check keeps the stories of a test, whose name may be any text.
func storyDir(name string) string {
	path := []string{"testdata", "sim"}
	for _, part := range strings.Split(name, "/") {
		path = append(path, story.PathPart(part))
	}
	return filepath.Join(path...)
}

// testOf is the test that a campaign belongs to, given the campaign's name.
func testOf(name string) string { return numbered.ReplaceAllString(name, "") }

var numbered = regexp.MustCompile(`~[0-9]+$`)
