package property

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/wavetank/wavetank/history"
)

// DeletesWhatItRead holds if no program deletes an object that it has never read: it deletes by
// name alone, and the name may belong to another object by now. For Always. Without patterns it
// covers all objects except Leases and Events.
//
// An incarnation has read an object if anything that it received contained the object's UID: a
// reply, a list, or a watch event, which fills its cache. An object that it created itself counts
// as read, even if the reply was lost. What arrives while a DELETE is under way counts, too.
//
// A DELETE with a precondition for the UID or the resource version is safe: the server refuses it
// if another object has the name. DELETEs of a whole collection are not judged, nor are those by
// users, the garbage collector and other controllers of the cluster.
//
// It is not a default property. In 126 to 208 runs of each operator in examples/ and of the fixed
// variants of the five reference scenarios it saw no violation. But it reports every program that
// deletes what it never reads, and many do so on purpose, for example with the children of an
// object that is being deleted. What a process sees only in a call of its webhook does not count as
// read.
func DeletesWhatItRead(of ...history.Ref) Property {
	return perRun(func() judge {
		r := &readers{of: of, pending: map[int][]string{}, read: map[string]map[string]bool{},
			uids: map[history.Ref][]string{}}
		return judge{event: r.event}
	})
}

// readers keeps account of which incarnation has read which objects.
type readers struct {
	of      []history.Ref
	pending map[int][]string           // UIDs in the answers that are under way, by index of the request
	read    map[string]map[string]bool // UIDs that an incarnation has read
	uids    map[history.Ref][]string   // of the objects that had a name, one after another
}

func (r *readers) event(_ *history.History, e *history.Event) error {
	who := e.Actor()
	switch e.Kind {
	case history.Start:
		delete(r.read, (&history.Event{Process: e.Process, Incarnation: e.Incarnation - 1}).Actor())
	case history.Deliver:
		r.learn(who, uidsIn(e.Received))
	case history.Reply:
		if e.Note == "" && e.Code < 300 {
			r.learn(who, r.pending[e.Call])
		}
		delete(r.pending, e.Call)
	case history.Request:
		if e.Incarnation == 0 {
			r.make(e)
			return nil
		}
		err := r.deletes(e)
		r.make(e)
		if uids := uidsIn(e.Received); len(uids) > 0 {
			r.pending[e.Index] = uids
		}
		return err
	}
	return nil
}

// learn takes down what an incarnation has read.
func (r *readers) learn(who string, uids []string) {
	if r.read[who] == nil {
		r.read[who] = map[string]bool{}
	}
	for _, uid := range uids {
		r.read[who][uid] = true
	}
}

// make takes down what a request created.
func (r *readers) make(e *history.Event) {
	for i := range e.Changes {
		c := &e.Changes[i]
		if c.Type != "ADDED" || !anyOf(r.of, c.Ref) {
			continue
		}
		r.uids[c.Ref] = append(r.uids[c.Ref], c.UID)
		if e.Incarnation > 0 {
			r.learn(e.Actor(), []string{c.UID})
		}
	}
}

// deletes judges a DELETE by what its sender had read.
func (r *readers) deletes(e *history.Event) error {
	if e.Verb != "delete" || e.Sub != "" || conditional(e.Sent) {
		return nil
	}
	for i := range e.Changes {
		c := &e.Changes[i]
		if c.Ref != e.Ref || !anyOf(r.of, c.Ref) {
			continue
		}
		if breaks("DeletesWhatItRead: an object that was not read", !r.read[e.Actor()][c.UID]) {
			return history.About(fmt.Errorf("%s%s hit the object with UID %s, of which %s had read nothing; %s; "+
				"send the UID that was read as a precondition of the DELETE",
				what(e), within(e.Reconcile), c.UID, e.Actor(), r.knew(e.Actor(), c)), c.Ref)
		}
	}
	return nil
}

// knew describes what an incarnation knew under the name of an object that it had not read.
func (r *readers) knew(who string, c *history.Change) string {
	known := ""
	for _, uid := range r.uids[c.Ref] {
		if uid != c.UID && r.read[who][uid] {
			known = uid
		}
	}
	if known == "" {
		return "it had read no object of that name"
	}
	return "what it had read under that name was UID " + known
}

// within names the reconcile that a request belongs to.
func within(reconcile history.Reconcile) string {
	if reconcile.None() {
		return ""
	}
	return fmt.Sprintf(" in reconcile %q", reconcile.String())
}

// conditional reports whether the options of a DELETE name the object that is meant.
func conditional(options []byte) bool {
	var o struct{ Preconditions map[string]any }
	return json.Unmarshal(options, &o) == nil && len(o.Preconditions) > 0
}

// uidsIn are the UIDs in a body. It does not decode: bodies are many and long.
func uidsIn(body []byte) (out []string) {
	for {
		_, after, found := bytes.Cut(body, []byte(`"uid":"`))
		if !found {
			return out
		}
		uid, rest, _ := bytes.Cut(after, []byte(`"`))
		out = append(out, string(uid))
		body = rest
	}
}
