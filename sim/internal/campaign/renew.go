package campaign

import (
	"os"
	"path/filepath"

	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
)

// renewer writes stories again as their replays have them.
type renewer struct {
	settings Settings
	teller   *teller
}

// renew writes a story again as its replay has it, and removes the old file if the name changes. A
// file name that a user chose is kept. It returns the path of the story.
func (r *renewer) renew(path string, old, fresh *story.Story) (to string) {
	to = path
	if filepath.Base(path) == old.Name() {
		to = filepath.Join(filepath.Dir(path), fresh.Name())
	}
	fresh.Replay = r.teller.command(to)
	err := atomicfile.Write(to, fresh.Encode())
	if err == nil && to != path {
		err = os.Remove(path)
	}
	if err != nil {
		r.settings.Host.Fatalf("sim: the story could not be renewed: %v", err)
	}
	r.settings.Host.Logf("sim: %s was renewed: %s", path, to)
	r.settings.reportReplayed("renewed: " + to)
	return to
}

// renewPassing renews a story whose run passes: its faults follow their requests, and its property
// has the sentence that is declared in its place.
func (r *renewer) renewPassing(path string, s *story.Story, replay storyReplay, old *story.Outdated) {
	fresh := *s
	fresh.Choices, fresh.Confirmed = replay.choices, ""
	switch {
	case old != nil && old.Renamed != "":
		fresh.Property = old.Renamed
	case old != nil || len(replay.moves) == 0:
		return
	}
	r.renew(path, s, &fresh)
}
