package run

import (
	"bytes"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// Object is how a controller's reconciles of one object ended in a run. A user made the object.
type Object struct {
	Controller string
	Ref        history.Ref
	// Succeeded is set if the last reconcile before one of the quiescent moments succeeded.
	Succeeded bool
	Failing   bool     // the last one failed before the latest quiescent moment
	Failure   string   // of the last reconcile before the latest quiescent moment
	Missing   []string // objects that programs looked for, that do not exist, and that Failure names
}

// Objects follows the objects of users and the reconciles of their keys.
type Objects struct {
	made   map[history.Key][]history.Ref // objects of users that exist and are not being deleted
	last   map[history.Key]history.Outcome
	keys   []history.Key // of last, in the order in which they were first reconciled
	judged []Object
	place  map[judgedKey]int // in judged
	any    bool              // a quiescent moment was judged
}

// judgedKey names an element of judged.
type judgedKey struct {
	controller string
	ref        history.Ref
}

// maxJudged is how many objects are judged: a world may have thousands, which are much alike.
const maxJudged = 200

// Read takes in the next events.
func (o *Objects) Read(events []history.Event) {
	if o.made == nil {
		o.made, o.last = map[history.Key][]history.Ref{}, map[history.Key]history.Outcome{}
		o.place = map[judgedKey]int{}
	}
	for i := range events {
		e := &events[i]
		switch e.Kind {
		case history.Request:
			for j := range e.Changes {
				o.change(&e.Changes[j], e.Process == User)
			}
		case history.Done:
			if _, known := o.last[e.Reconcile.Key]; !known {
				o.keys = append(o.keys, e.Reconcile.Key)
			}
			o.last[e.Reconcile.Key] = e.Outcome
		case history.Settled:
			o.judge()
		}
	}
}

// change takes in one change. byUser says that a user made it.
func (o *Objects) change(c *history.Change, byUser bool) {
	if c.Ref.Cluster != "" {
		return
	}
	at := history.Key{Namespace: c.Ref.Namespace, Name: c.Ref.Name}
	have := slices.Index(o.made[at], c.Ref)
	switch {
	case c.Type == "ADDED" && byUser && have < 0:
		o.made[at] = append(o.made[at], c.Ref)
	case have >= 0 && (c.Type == "DELETED" || bytes.Contains(c.Object, []byte(`"deletionTimestamp"`))):
		o.made[at] = slices.Delete(o.made[at], have, have+1)
	}
}

// judge looks at the last reconcile of each object.
func (o *Objects) judge() {
	o.any = true
	for i := range o.judged {
		o.judged[i].Failing = false
	}
	for _, key := range o.keys {
		of := o.made[history.Key{Namespace: key.Namespace, Name: key.Name}]
		if i := slices.IndexFunc(of, func(r history.Ref) bool {
			return strings.EqualFold(r.Kind, key.Controller)
		}); i >= 0 {
			of = of[i : i+1] // several kinds may have an object of one name
		}
		for _, ref := range of {
			i, known := o.place[judgedKey{key.Controller, ref}]
			if !known {
				if len(o.judged) == maxJudged {
					continue
				}
				i, o.judged = len(o.judged), append(o.judged, Object{Controller: key.Controller, Ref: ref})
				o.place[judgedKey{key.Controller, ref}] = i
			}
			out := o.last[key]
			if o.judged[i].Failing = out.Failed(); out.Failed() {
				o.judged[i].Failure = strings.Join(strings.Fields(out.Text), " ")
			} else {
				o.judged[i].Succeeded = true
			}
		}
	}
}

// Judged is what became of the objects. A run that was never quiescent is judged as it ended.
func (o *Objects) Judged() []Object {
	if !o.any {
		o.judge()
	}
	return o.judged
}
