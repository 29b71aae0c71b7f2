package campaign

import (
	"slices"
	"strings"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
)

// A fix may change the request that a fault was injected at: a POST becomes a PUT or a PATCH. The
// label of the choice names the verb, so the run does not ask for it any more. A replay then
// injects the fault at the write with the same effect: the same fault, process and object, and the
// same number among such writes, whatever the verb.

// lostFaults are those of a story's choices that inject a fault, or let it be injected, and were
// never asked for.
func lostFaults(unused choice.Sequence) (lost []string) {
	for _, e := range unused {
		if e.Kind == story.Arm || e.Kind == story.Inject {
			lost = append(lost, e.String())
		}
	}
	return lost
}

// writeVerbs say of each verb that writes whether it deletes.
var writeVerbs = map[string]bool{
	"create": false, "update": false, "patch": false, "POST": false, "PUT": false, "PATCH": false,
	"delete": true, "deletecollection": true, "DELETE": true,
}

// isWrite reports whether a label names a request that writes.
func isWrite(l story.Label) bool {
	_, ok := writeVerbs[l.Verb]
	return ok && l.Who != ""
}

// sameSender reports whether two labels are of the same fault, at the same point and process.
func sameSender(a, b story.Label) bool {
	return a.Kind == b.Kind && a.Of == b.Of && a.Who == b.Who
}

// sameEffect reports whether two writes have the same effect, whatever their verbs.
func sameEffect(a, b story.Label) bool {
	return sameSender(a, b) && writeVerbs[a.Verb] == writeVerbs[b.Verb] &&
		(a.What == b.What || contains(a.What, b.What) || contains(b.What, a.What))
}

// contains reports whether one of two objects of requests is the collection that the other is in: a
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
	story.Choice
	seen  int           // writes with its effect so far
	moved *story.Choice // the choice that takes its place; nil for none yet
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
		if isWrite(e.Label) {
			m.lost = append(m.lost, &lostWrite{Choice: e})
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
		if !isWrite(p.Label) || !sameSender(l.Label, p.Label) {
			continue
		}
		here := story.Choice{ID: p.ID(), Value: l.Value}
		if len(l.near) < mostNear && v == 0 {
			l.near = append(l.near, here.Line())
		}
		if l.moved != nil || !sameEffect(l.Label, p.Label) {
			continue
		}
		if l.seen++; l.seen > l.Nth && v == 0 {
			l.moved, v = &here, l.Value
		}
	}
	return v
}

// of is what became of a choice of the sequence, nil if it was not lost.
func (m *mover) of(e story.Choice) *lostWrite {
	for _, l := range m.lost {
		if l.Choice == e {
			return l
		}
	}
	return nil
}

// sequence is a choice sequence with the labels of the choices that were moved.
func (m *mover) sequence(whole choice.Sequence) choice.Sequence {
	out := slices.Clone(whole)
	for i, e := range out {
		if l := m.of(e); l != nil && l.moved != nil {
			out[i] = *l.moved
		}
	}
	return out
}

// Unused are the choices of the sequence that the run did not come to, and that were not moved.
func (m *mover) Unused() choice.Sequence {
	return slices.DeleteFunc(m.Player.Unused(), func(e story.Choice) bool {
		l := m.of(e)
		return l != nil && l.moved != nil
	})
}

// moves are the IDs of the choices that were moved, each with its new one.
func (m *mover) moves() (out [][2]string) {
	for _, l := range m.lost {
		if l.moved != nil {
			out = append(out, [2]string{l.String(), l.moved.String()})
		}
	}
	return out
}

// near are lines that may take the place of those of the choices that are still lost.
func (m *mover) near() (out []string) {
	for _, l := range m.lost {
		for _, line := range l.near {
			if l.moved == nil && !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out[:min(len(out), mostNear)]
}
