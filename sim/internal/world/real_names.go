package world

import (
	"regexp"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// naming owns which objects of a run at a real API server are which of its script. A real server
// gives other UIDs and generates other names.
type naming struct {
	course *run.Course
	script *history.History
	actual *history.History
	events int // of the real run that were compared with the script's
}

// learn compares the names that the server gave in this step with those of the script. It is called
// before any watch has an event of it, because the choices about that have names in their labels.
//
// An object that the script has by the same name is that object. Requests to create such objects
// may come in another order than in the script, if a program sends them at the same time.
func (n *naming) learn() {
	var generated []history.Change
	for _, e := range n.actual.Events[n.events:] {
		for _, a := range e.Changes {
			if a.Type != "ADDED" || n.course.Names[a.UID] != "" {
				continue
			}
			if b, ok := n.namesake(a); ok {
				n.course.Names[a.UID] = b.UID
			} else {
				generated = append(generated, a)
			}
		}
	}
	n.events = len(n.actual.Events)
	for _, e := range n.script.Events {
		if e.Step != n.course.Steps+1 {
			continue
		}
		for _, b := range e.Changes {
			i := slices.IndexFunc(generated, func(a history.Change) bool {
				return b.Type == "ADDED" && a.Ref.Kind == b.Ref.Kind && !n.learned(b.UID)
			})
			if i >= 0 {
				n.course.Names[generated[i].UID], n.course.Names[generated[i].Ref.Name] = b.UID, b.Ref.Name
				generated = slices.Delete(generated, i, i+1)
			}
		}
	}
}

// namesake is the first object of the script that has the kind and the name of a real one, and that
// was not found for another real one. The script has several if the object is created again.
func (n *naming) namesake(a history.Change) (history.Change, bool) {
	for _, e := range n.script.Events {
		for _, b := range e.Changes {
			if b.Type == "ADDED" && a.Ref == b.Ref && !n.learned(b.UID) {
				return b, true
			}
		}
	}
	return history.Change{}, false
}

// learned reports whether the real object is known that has a UID in the script.
func (n *naming) learned(uid string) bool {
	for _, scripted := range n.course.Names {
		if scripted == uid {
			return true
		}
	}
	return false
}

// computed finds the action of a step that is about another name than the story's, if neither name
// was there before: a program may compute names from UIDs or from its clock, and look for them
// before it creates the object. The two names are the same from then on.
func (n *naming) computed(pending []*sched.Action, steps []run.Step, at int) *sched.Action {
	want := steps[at]
	for _, a := range pending {
		name, scripted := otherName(n.course.InScript(a.Words()), want.What)
		if name == "" || n.course.InScript(a.Actor.String()) != want.Actor ||
			anyNames(steps, name) || anyNames(steps[:at], scripted) {
			continue
		}
		n.course.Names[name] = scripted
		return a
	}
	return nil
}

// otherName returns the names of two requests that differ in these alone, which are those of their
// objects or of their namespaces; "" for other requests.
func otherName(real, scripted string) (a, b string) {
	x, y := request.FindStringSubmatch(real), request.FindStringSubmatch(scripted)
	switch {
	case x == nil || y == nil || x[1] != y[1] || x[4] != y[4]:
		return "", ""
	case x[2] == y[2] && x[3] != y[3]:
		return x[3], y[3]
	case x[2] != y[2] && x[3] == y[3]:
		return x[2], y[2]
	}
	return "", ""
}

// request matches a request about an object or a namespace with a name.
var request = regexp.MustCompile(`^(request of [a-z]+ [A-Za-z]+) (?:([^ /]*)/)?([^ /]*)((?:/[a-z]+)? by .*)$`)

// anyNames reports whether the description of one of the steps contains name.
func anyNames(steps []run.Step, name string) bool {
	return slices.ContainsFunc(steps, func(s run.Step) bool { return strings.Contains(s.What, name) })
}
