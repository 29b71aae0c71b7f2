package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"strconv"

	"github.com/wavetank/wavetank/internal/atomicfile"
)

// timelinePage renders a run as one HTML page. It needs no network and no other file.
func timelinePage(r Run) ([]byte, error) {
	r.History = abridge(r.History)
	return timelines(r.title(), r)
}

// SideBySide renders two runs on one page, side by side, and marks the first event that differs.
func SideBySide(a, b Run) ([]byte, error) {
	a.History, b.History = abridge(a.History), abridge(b.History)
	return timelines(a.title()+" beside "+b.title(), a, b)
}

// timelines draws runs whose histories are abridged.
func timelines(title string, runs ...Run) ([]byte, error) {
	var data struct {
		Runs  []*model `json:"runs"`
		Parts int      `json:"parts"` // the first event that differs; -1 for none
	}
	data.Parts = -1
	if len(runs) == 2 {
		data.Parts = firstDifference(runs[0], runs[1])
	}
	p := htmlPage{Title: title}
	var bodies []string
	for _, r := range runs {
		m := newModel(r)
		m.shift(len(bodies))
		bodies = append(bodies, m.bodies...)
		data.Runs = append(data.Runs, m)
		p.Text = append(append(p.Text, r.head()...), first(r.History.Render(), longestText)...)
	}
	var err error
	if p.Data, err = pack(data); err != nil {
		return nil, err
	}
	if p.Bodies, err = pack(bodies); err != nil {
		return nil, err
	}
	return p.render()
}

// firstDifference is the first event that differs between two runs. Bodies are not compared,
// because two variants of one program may write the same in different words.
func firstDifference(a, b Run) int {
	for i := range a.History.Events {
		if i >= len(b.History.Events) || a.History.Events[i].String() != b.History.Events[i].String() {
			return i
		}
	}
	if len(b.History.Events) > len(a.History.Events) {
		return len(a.History.Events)
	}
	return -1
}

// shift adds to the indices of bodies when tables are joined.
func (m *model) shift(n int) {
	by := func(place *int) {
		if *place > 0 {
			*place += n
		}
	}
	for i := range m.Events {
		e := &m.Events[i]
		by(&e.Sent)
		by(&e.Received)
		for j := range e.Changes {
			by(&e.Changes[j].After)
			by(&e.Changes[j].Before)
		}
	}
}

// pack compresses JSON: gzip, in base64, in quotes. About a tenth of the size of a run remains.
func pack(v any) (template.JS, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(data); err != nil {
		return "", fmt.Errorf("packing: %w", err)
	}
	if err := z.Close(); err != nil {
		return "", fmt.Errorf("packing: %w", err)
	}
	return template.JS(strconv.Quote(base64.StdEncoding.EncodeToString(b.Bytes()))), nil
}

// longestText is how many lines readers without script get at most.
const longestText = 2000

// WriteRun writes a run into a directory, as JSON and as a timeline page, and returns the page's
// path. Both files have the name of the story's file, or that of the run if there is no story.
// Strings of more than 4 KiB within bodies are cut.
func WriteRun(dir string, r Run) (page string, err error) {
	r.History = abridge(r.History)
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	if err := atomicfile.Write(mkdir(dir, r.base()+RunSuffix), append(data, '\n')); err != nil {
		return "", err
	}
	html, err := timelines(r.title(), r)
	if err != nil {
		return "", err
	}
	page = filepath.Join(dir, r.base()+".html")
	return page, WritePage(page, html)
}

// mkdir is the path of a file in a directory that is made if it is missing. If that fails, writing
// the file says why.
func mkdir(dir, name string) string {
	_ = os.MkdirAll(dir, 0o777)
	return filepath.Join(dir, name)
}
