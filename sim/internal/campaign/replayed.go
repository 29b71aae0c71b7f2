package campaign

import (
	"fmt"
	"os"
)

// replayedFile names the file to which a process adds a line for each story that it was told to
// replay: held, broke or hung.
const replayedFile = "WAVETANK_REPLAYED"

// reportReplayed adds a line on a story that was replayed to the file that the wavetank command, or
// a process that repeats a run, asks for: an exit code does not report whether a test of that name
// was there.
func (s Settings) reportReplayed(outcome string) {
	path := os.Getenv(replayedFile)
	if path == "" || !s.replayFlag {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return // the caller will miss it
	}
	defer f.Close()
	fmt.Fprintln(f, outcome)
}
