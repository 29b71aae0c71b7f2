package world

import (
	"slices"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// names owns which objects of a run at a real API server are which of its script. A real server
// gives other UIDs and generates other names.
type names struct {
	course *run.Course
	script *history.History
	real   *history.History
	events int // of the real run that were compared with the script's
}

// learn compares the names that the server gave in this step with those of the script. It is called
// before any watch has an event of it, because the choices about that have names in their labels.
//
// An object that the script has by the same name is that object. Requests to create such objects
// may come in another order than in the script, if a program sends them at the same time.
func (n *names) learn() {
	var generated []history.Change
	for _, e := range n.real.Events[n.events:] {
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
	n.events = len(n.real.Events)
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
func (n *names) namesake(a history.Change) (history.Change, bool) {
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
func (n *names) learned(uid string) bool {
	for _, scripted := range n.course.Names {
		if scripted == uid {
			return true
		}
	}
	return false
}

// inScript asks a source for the choices of a run at a real server, whose names differ from those
// of the script.
func inScript(c *run.Course, source choice.Source) choice.Source {
	return choice.Func(func(p choice.Point) int {
		if len(c.Names) > 0 {
			p.Who, p.What = c.InScript(p.Who), c.InScript(p.What)
		}
		return source.Choose(p)
	})
}
