package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/story"
)

// Run is one run as pages and texts show it. In a file it is JSON, {"story": …, "file": …,
// "history": …}, with the text of the story's file and the JSON form of the history. The story
// alone has no bodies.
type Run struct {
	// Story is the violation; nil for a run in which every property held.
	Story *story.Story
	// Name says what was run if there is no story.
	Name string
	// File is the path of the story's file for readers; "" if there is none.
	File    string
	History *history.History
}

type recording struct {
	Name    string           `json:"name,omitempty"`
	Story   string           `json:"story,omitempty"`
	File    string           `json:"file,omitempty"`
	History *history.History `json:"history"`
}

// MarshalJSON implements [json.Marshaler].
func (r Run) MarshalJSON() ([]byte, error) {
	out := recording{Name: r.Name, File: r.File, History: r.History}
	if r.Story != nil {
		out.Story = string(r.Story.Encode())
	}
	return json.Marshal(out)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (r *Run) UnmarshalJSON(data []byte) error {
	var in recording
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if in.History == nil {
		return errors.New("the run has no history")
	}
	*r = Run{Name: in.Name, File: in.File, History: in.History}
	if in.Story == "" {
		return nil
	}
	var err error
	r.Story, err = story.Decode([]byte(in.Story))
	return err
}

// RunSuffix ends the names of files that hold a run.
const RunSuffix = ".run.json"

// ReadRun reads a run from a file.
func ReadRun(path string) (*Run, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Run{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("%s is not a run: %w", path, err)
	}
	return r, nil
}

// WriteRun writes a run into a directory, as JSON and as a timeline page, and returns the page's
// path. Both files have the name of the story's file, or that of the run if there is no story.
// Strings of more than 4 KiB within bodies are cut.
func WriteRun(dir string, r Run) (page string, err error) {
	r.History = abridge(r.History)
	data, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(mkdir(dir, r.base()+RunSuffix), append(data, '\n'), 0o666); err != nil {
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

func (r Run) base() string {
	if r.File != "" {
		return strings.TrimSuffix(filepath.Base(r.File), ".txtar")
	}
	if r.Story != nil {
		return strings.TrimSuffix(r.Story.Name(), ".txtar")
	}
	return fileName(r.Name)
}

// fileName is a name without what file systems and addresses do not take.
func fileName(name string) string {
	return strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf && (unicode.IsLetter(c) || unicode.IsDigit(c)) || strings.ContainsRune("._~-", c) {
			return c
		}
		return '_'
	}, name)
}

func (r Run) title() string {
	if r.Story != nil {
		return r.Story.Test
	}
	return r.Name
}

// lane is a line of the picture: a participant that sends or receives requests.
type lane struct {
	Name  string `json:"name"`
	Group string `json:"group"` // user, server, process, builtin or outside
	Life  int    `json:"life,omitempty"`
}

// The groups of lanes, in the order in which they stand.
var groups = []string{"user", "server", "process", "builtin", "outside"}

// lanes lists the participants: the user, the API servers, each incarnation of each process,
// built-in controllers (processes without incarnations), and hosts outside. It returns the lane of
// each actor and host.
func lanes(h *history.History) (all []lane, place map[string]int) {
	byGroup := map[string][]lane{"server": {{Name: server, Group: "server"}}}
	seen := map[string]bool{}
	add := func(name, group string, life int) {
		if name != "" && !seen[name] {
			seen[name] = true
			byGroup[group] = append(byGroup[group], lane{name, group, life})
		}
	}
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Process == apiserver: // calls webhooks, and has a lane already
		case e.Process == "user":
			add("user", "user", 0)
		case e.Incarnation == 0:
			add(e.Process, "builtin", 0)
		default:
			add(e.Actor(), "process", e.Incarnation)
		}
		if e.Kind == history.Request {
			add(e.Host, "outside", 0)
			add(e.Ref.Cluster, "server", 0)
		}
	}
	// The incarnations of a process are neighbours, in the order in which the processes started.
	came := map[string]int{}
	for i, l := range byGroup["process"] {
		if _, ok := came[processOf(l.Name)]; !ok {
			came[processOf(l.Name)] = i
		}
	}
	sort.SliceStable(byGroup["process"], func(i, j int) bool {
		return came[processOf(byGroup["process"][i].Name)] < came[processOf(byGroup["process"][j].Name)]
	})
	place = map[string]int{}
	for _, g := range groups {
		for _, l := range byGroup[g] {
			place[l.Name] = len(all)
			all = append(all, l)
		}
	}
	place[apiserver] = place[server]
	return all, place
}

// apiserver is the process name under which an API server's own calls are recorded.
const apiserver = "kube-apiserver"

// recipient is the lane that a request is sent to: a host outside, or the API server of a cluster.
func recipient(e *history.Event, place map[string]int) int {
	return place[cmp.Or(e.Host, e.Ref.Cluster, server)]
}

// processOf is an actor's name without the number of the incarnation.
func processOf(actor string) string { return actor[:strings.LastIndex(actor, "/")] }
