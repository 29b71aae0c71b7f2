package garbage

import (
	"errors"
	"time"

	"github.com/wavetank/wavetank/models/actor"
)

// first and longest bound the time between two attempts that fail (client-go's
// workqueue/default_rate_limiters.go).
const first, longest = 5 * time.Millisecond, 1000 * time.Second

// queue holds what is to be done to objects. What is asked for twice is done once, at the earlier
// time.
type queue struct {
	cluster actor.Cluster
	waiting map[work]time.Duration
	tried   map[work]int // attempts that have failed in a row
}

type work struct {
	on   *node
	what string
}

func (w work) key() string { return w.what + " " + w.on.String() + " (" + string(w.on.uid) + ")" }

// errMore is no failure: the step has another one behind it.
var errMore = errors.New("there is more to do")

// add asks for a step as soon as possible.
func (q *queue) add(n *node, what string, step func() error) {
	q.wait(work{n, what}, 0, q.cluster.After, step)
}

func (q *queue) wait(w work, d time.Duration, after func(time.Duration, string, func()), step func() error) {
	due := q.cluster.Now() + d
	if at, waiting := q.waiting[w]; waiting && at <= due {
		return
	}
	if q.waiting == nil {
		q.waiting, q.tried = map[work]time.Duration{}, map[work]int{}
	}
	q.waiting[w] = due
	after(d, w.key(), func() {
		if _, waiting := q.waiting[w]; !waiting {
			return // the object has gone meanwhile
		}
		delete(q.waiting, w)
		switch err := step(); {
		case err == nil:
			delete(q.tried, w)
			return
		case errors.Is(err, errMore):
			q.wait(w, 0, q.cluster.After, step)
			return
		}
		d := longest
		if shift := q.tried[w]; shift < 18 { // 5 ms doubled eighteen times is more than the longest
			d = first << shift
		}
		q.tried[w]++
		q.wait(w, d, q.cluster.Again, step)
	})
}

// forget drops the work that was due for an object, including an attempt that was to be repeated,
// so that no wait for quiescence includes it.
func (q *queue) forget(n *node) {
	for _, what := range []string{"collect", "orphan"} {
		w := work{n, what}
		if _, waiting := q.waiting[w]; waiting && q.tried[w] > 0 {
			q.cluster.After(0, w.key(), func() {})
		}
		delete(q.waiting, w)
		delete(q.tried, w)
	}
}
