package campaign

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/sim/internal/choice"
)

// A fix may change the request that a fault was injected at: a POST becomes a PUT or a PATCH. The
// label of the choice names the request, so the run does not ask for it any more. A replay then
// injects the fault at the write with the same effect: the same fault, process and object, and the
// same number among such writes, whatever the verb.

// write is a label that names a request that writes.
type write struct {
	before  string // the verb: the fault, where it takes effect, and the process
	deletes bool
	object  string // or the URL of a service outside the cluster
}

// writeVerbs say of each verb that writes whether it deletes.
var writeVerbs = map[string]bool{
	"create": false, "update": false, "patch": false, "POST": false, "PUT": false, "PATCH": false,
	"delete": true, "deletecollection": true, "DELETE": true,
}

// writeOf reads a label. It reports false if the label names no request that writes.
func writeOf(label string) (write, bool) {
	words := strings.Split(label, " ")
	for i := len(words) - 2; i > 0; i-- {
		if deletes, ok := writeVerbs[words[i]]; ok {
			return write{strings.Join(words[:i], " "), deletes, strings.Join(words[i+1:], " ")}, true
		}
	}
	return write{}, false
}

// sameEffect says whether two writes have the same effect, whatever their verbs.
func (w write) sameEffect(o write) bool {
	return w.before == o.before && w.deletes == o.deletes &&
		(w.object == o.object || contains(w.object, o.object) || contains(o.object, w.object))
}

// contains says whether one of two objects of requests is the collection that the other is in: a
// create names the collection, and an update the object.
func contains(collection, object string) bool {
	collection, clusterA, _ := strings.Cut(collection, " in ")
	object, clusterB, _ := strings.Cut(object, " in ")
	rest, ok := strings.CutPrefix(object, collection)
	switch {
	case !ok || clusterA != clusterB:
		return false
	case strings.HasSuffix(collection, "/"): // ConfigMap default/
	case strings.Contains(collection, " "): // ConfigMap default/a and its /status
		return false
	case strings.HasPrefix(rest, "/"), strings.HasPrefix(rest, " "): // dns.example/records, or Namespace
		rest = rest[1:]
	default:
		return false
	}
	return rest != "" && !strings.ContainsAny(rest, "/ ")
}

// lostWrite is a choice of a story at a write that a first replay did not ask for.
type lostWrite struct {
	choice.Entry
	write
	nth   int    // of the writes with this effect, counted from 1
	seen  int    // so far
	moved string // the ID of the choice that takes its place; "" for none yet
	// near are choices of the same fault at other writes of the same process, as a file has them.
	near []string
}

// mover replays a choice sequence. For choices at writes that were lost it answers at the write
// with the same effect.
type mover struct {
	*choice.Player
	lost []*lostWrite
}

// newMover is a source that moves the lost choices of a sequence; nil if none is at a write.
func newMover(whole, lost choice.Sequence) *mover {
	m := &mover{Player: choice.Play(whole)}
	for _, e := range lost {
		at := strings.LastIndex(e.ID, " #")
		nth, err := strconv.Atoi(e.ID[at+2:])
		if w, ok := writeOf(e.ID[:max(at, 0)]); ok && err == nil {
			m.lost = append(m.lost, &lostWrite{Entry: e, write: w, nth: nth})
		}
	}
	if len(m.lost) == 0 {
		return nil
	}
	return m
}

// mostNear is how many choices a message offers in place of one that is lost.
const mostNear = 3

// Choose implements [choice.Source].
func (m *mover) Choose(p choice.Point) int {
	v := m.Player.Choose(p)
	for _, l := range m.lost {
		if !strings.HasPrefix(p.Label, l.before) {
			continue
		}
		w, ok := writeOf(p.Label)
		if !ok || w.before != l.before {
			continue
		}
		if len(l.near) < mostNear && v == 0 {
			l.near = append(l.near, fmt.Sprintf("%d %s", l.Value, p.ID()))
		}
		if l.moved != "" || !l.sameEffect(w) {
			continue
		}
		if l.seen++; l.seen >= l.nth && v == 0 {
			l.moved, v = p.ID(), l.Value
		}
	}
	return v
}

// sequence is a choice sequence with the labels of the choices that were moved.
func (m *mover) sequence(whole choice.Sequence) choice.Sequence {
	out := slices.Clone(whole)
	for i, e := range out {
		for _, l := range m.lost {
			if l.ID == e.ID && l.moved != "" {
				out[i].ID = l.moved
			}
		}
	}
	return out
}

// Unused are the choices of the sequence that the run did not come to, and that were not moved.
func (m *mover) Unused() choice.Sequence {
	return slices.DeleteFunc(m.Player.Unused(), func(e choice.Entry) bool {
		return slices.ContainsFunc(m.lost, func(l *lostWrite) bool { return l.ID == e.ID && l.moved != "" })
	})
}

// moves are the IDs of the choices that were moved, each with its new one.
func (m *mover) moves() (out [][2]string) {
	for _, l := range m.lost {
		if l.moved != "" {
			out = append(out, [2]string{l.ID, l.moved})
		}
	}
	return out
}

// near are lines that may take the place of those of the choices that are still lost.
func (m *mover) near() (out []string) {
	for _, l := range m.lost {
		for _, line := range l.near {
			if l.moved == "" && !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out[:min(len(out), mostNear)]
}
