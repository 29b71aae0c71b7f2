package reports

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/internal/atomicfile"
	"github.com/wavetank/wavetank/internal/story"
)

// Run is one run as pages and texts show it. In a file it is JSON, {"story": …, "file": …,
// "history": …}, with the text of the story's file and the JSON form of the history. The story
// alone has no bodies.
type Run struct {
	// Story is the violation; nil for a run in which every property held.
	Story *story.Story
	// Name is what was run if there is no story.
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

func (r Run) base() string {
	if r.File != "" {
		return strings.TrimSuffix(filepath.Base(r.File), ".txtar")
	}
	if r.Story != nil {
		return strings.TrimSuffix(r.Story.Name(), ".txtar")
	}
	return story.PathPart(r.Name)
}

func (r Run) title() string {
	if r.Story != nil {
		return r.Story.Test
	}
	return r.Name
}

// lane is a line of the picture: a participant that sends or receives requests.
type lane struct {
	Name        string `json:"name"`
	Group       string `json:"group"`                 // user, server, process, builtin or outside
	Incarnation int    `json:"incarnation,omitempty"` // 0 where all incarnations of a process share the lane

	process string
}

// The groups of lanes, in the order in which they stand.
var groups = []string{"user", "server", "process", "builtin", "outside"}

// mostLanes is how many incarnations of a process may have a lane each.
const mostLanes = 6

// laneOf is the lane of an event's actor. Where a process has many incarnations, they share one.
func laneOf(e *history.Event, incarnations map[string]int) lane {
	n := incarnations[e.Process]
	switch {
	case e.Process == apiserver: // calls webhooks, and has a lane already
		return lane{Name: server, Group: "server"}
	case e.Process == "user":
		return lane{Name: "user", Group: "user"}
	case e.Incarnation == 0:
		return lane{Name: e.Process, Group: "builtin"}
	case n > mostLanes:
		return lane{Name: fmt.Sprintf("%s/1–%d", e.Process, n), Group: "process", process: e.Process}
	}
	return lane{Name: e.Actor(), Group: "process", Incarnation: e.Incarnation, process: e.Process}
}

// lanes lists the participants: the user, the API servers, each incarnation of each process,
// built-in controllers (processes without incarnations), and hosts outside. It returns the lane of
// each actor and host.
func lanes(h *history.History) (all []lane, place map[string]int) {
	incarnations := map[string]int{}
	for i := range h.Events {
		e := &h.Events[i]
		incarnations[e.Process] = max(incarnations[e.Process], e.Incarnation)
	}
	byGroup := map[string][]lane{}
	laneName := map[string]string{} // of each actor and host
	add := func(actor string, l lane) {
		if l.Name != "" && !slices.ContainsFunc(byGroup[l.Group], func(have lane) bool { return have.Name == l.Name }) {
			byGroup[l.Group] = append(byGroup[l.Group], l)
		}
		laneName[actor] = l.Name
	}
	add(apiserver, lane{Name: server, Group: "server"})
	add(server, lane{Name: server, Group: "server"})
	for i := range h.Events {
		e := &h.Events[i]
		add(e.Actor(), laneOf(e, incarnations))
		if e.Kind == history.Request {
			add(e.Host, lane{Name: e.Host, Group: "outside"})
			add(e.Ref.Cluster, lane{Name: e.Ref.Cluster, Group: "server"})
		}
	}
	// The incarnations of a process are neighbours, in the order in which the processes started.
	came := map[string]int{}
	for i, l := range byGroup["process"] {
		if _, ok := came[l.process]; !ok {
			came[l.process] = i
		}
	}
	slices.SortStableFunc(byGroup["process"], func(a, b lane) int { return came[a.process] - came[b.process] })
	place = map[string]int{}
	for _, g := range groups {
		for _, l := range byGroup[g] {
			place[l.Name] = len(all)
			all = append(all, l)
		}
	}
	for actor, name := range laneName {
		if at, ok := place[name]; ok {
			place[actor] = at
		}
	}
	return all, place
}

// apiserver is the process name under which an API server's own calls are recorded.
const apiserver = "kube-apiserver"

// recipient is the lane that a request is sent to: a host outside, or the API server of a cluster.
func recipient(e *history.Event, place map[string]int) int {
	return place[cmp.Or(e.Host, e.Ref.Cluster, server)]
}
