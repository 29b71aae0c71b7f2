// Package atomicfile writes files that are complete or not there.
package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
)

// Write writes data to a file, which it creates or replaces. If it fails, or if the process is
// killed meanwhile, the file is what it was before: the data goes to another file in the same
// directory, which is renamed when it is complete. A symbolic link is followed.
func Write(path string, data []byte) (err error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	// Two processes that write one file at once have a temporary file each. One that a killed
	// process has left behind is overwritten at the latest when its number comes again.
	temporary := fmt.Sprintf("%s.%d.new", path, os.Getpid())
	if err = os.WriteFile(temporary, data, 0o666); err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		os.Remove(temporary) // the error that counts is the first one
	}
	return err
}
