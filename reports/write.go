package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wavetank/wavetank/internal/atomicfile"
)

// marker is in the first bytes of every page, so that a page of another program is recognised.
const marker = "<!-- made by Wavetank, which may replace it -->"

// withMarker puts the marker behind the first line of a page.
func withMarker(html []byte) []byte {
	first, rest, _ := bytes.Cut(html, []byte("\n"))
	return fmt.Appendf(nil, "%s\n%s\n%s", first, marker, rest)
}

// WritePage writes a page. It never replaces a file that Wavetank did not write, except an empty
// one.
func WritePage(path string, html []byte) error {
	old, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return atomicfile.Write(path, html)
	}
	if err != nil {
		return err
	}
	defer old.Close()
	head, err := io.ReadAll(io.LimitReader(old, 1024))
	if err != nil {
		return err
	}
	if len(head) > 0 && !bytes.Contains(head, []byte(marker)) {
		return fmt.Errorf("%s was not written by Wavetank, so it is not replaced; "+
			"move it away, or write the report to another directory", path)
	}
	return atomicfile.Write(path, html)
}
