package matrix

import (
	"strings"
	"testing"

	"github.com/wavetank/wavetank/internal/causes"
	"github.com/wavetank/wavetank/sim"
)

// CausesFile says what causes the failure of a story, by the name of its file without the
// extension.
const CausesFile = "testdata/causes.txt"

// causes replays the stories whose causes are written down. Message and paragraph must show each
// part, unless the file says that they do not.
func (p *prover[V]) causes(t *testing.T) {
	known, err := causes.Read(CausesFile)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range p.table.Cases {
		for j, k := range p.table.row(p.cells, i) {
			name := strings.TrimSuffix(k.storyName(), ".txtar")
			cause := known[name]
			if delete(known, name); len(cause) == 0 {
				continue
			}
			path, err := k.path(t)
			if err != nil {
				t.Fatal(err)
			}
			f := p.explore(t, c.Scenario(p.table.Variants[j]), sim.Replay(path), sim.ReportTo("")).Failure
			if f == nil {
				t.Errorf("%s does not fail", path)
				continue
			}
			for _, wrong := range causes.Compare(cause, f.Text(), strings.Join(f.Story.Paragraph(), "\n")) {
				t.Errorf("%s: %s; the message is\n%s", path, wrong, f.Text())
			}
		}
	}
	for name := range known {
		t.Errorf("%s has %s, which is no story of a cell", CausesFile, name)
	}
}
