package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wavetank/wavetank/history"
)

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

// server is the lane of the world's own API server.
const server = "API server"

// apiserver is the process name under which an API server's own calls are recorded.
const apiserver = "kube-apiserver"

// recipient is the lane that a request is sent to: a host outside, or the API server of a cluster.
func recipient(e *history.Event, place map[string]int) int {
	return place[cmp.Or(e.Host, e.Ref.Cluster, server)]
}
