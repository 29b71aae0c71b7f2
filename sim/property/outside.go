// This file finds changes outside the cluster that no program under test has made. A history has
// the requests to outside hosts and their answers, and no more.

package property

import (
	"hash/fnv"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// disturbances recognizes disturbances, those outside the cluster too.
type disturbances struct{ outside outside }

// by reports whether the event is a disturbance. It must be asked about each event once.
func (d *disturbances) by(e *history.Event) bool {
	news := d.outside.news(e) // in any case, as it remembers answers
	return news || disturbs(e)
}

// outside remembers the answers of outside hosts.
//
// An answer is news if it differs from the one that the same request got before, though the
// programs under test have changed nothing there in between. Not news are answers to POST and
// PATCH, the first answer to a request that changes something, and answers that always differ.
type outside struct {
	answers map[asked]*answered
	changed map[resource]asked // the last request that meant to change it
}

// resource is something at an outside host.
type resource struct{ host, path string }

// asked is a request to an outside host.
type asked struct {
	resource
	verb, query string
	body        uint64
}

// answered is the latest answer to a request.
type answered struct {
	code    int
	body    uint64
	changes int // how often in a row it was another one than before
}

// maxChanges is how often in a row an answer may differ. A service that answers with a counter or a
// token each time tells nothing.
const maxChanges = 3

// news reports whether a request got an answer that shows a change outside.
func (o *outside) news(e *history.Event) bool {
	n := o.changes(e)
	return n > 0 && n < maxChanges
}

// changes is how often in a row the answer to a request has shown a change outside, this one
// included; 0 if it shows none.
func (o *outside) changes(e *history.Event) int {
	if e.Kind != history.Request || e.Host == "" || e.Incarnation == 0 || e.Injected {
		return 0
	}
	path, query, _ := strings.Cut(e.Path, "?")
	a := asked{resource{e.Host, strings.TrimRight(path, "/")}, e.Verb, query, sum(e.Sent)}
	if o.answers == nil {
		o.answers, o.changed = map[asked]*answered{}, map[resource]asked{}
	}
	reads := e.Verb == http.MethodGet || e.Verb == http.MethodHead
	repeatable := reads || e.Verb == http.MethodPut || e.Verb == http.MethodDelete
	if !reads && (!repeatable || o.changed[a.resource] != a) {
		o.forget(a.resource)
		o.changed[a.resource] = a
		return 0
	}
	now := answered{code: e.Code, body: sum(withoutTimes(e))}
	before := o.answers[a]
	o.answers[a] = &now
	if before == nil || before.code == now.code && before.body == now.body {
		return 0
	}
	now.changes = before.changes + 1
	return now.changes
}

// forget drops what is known of a resource, of what it is a part of and of its parts.
func (o *outside) forget(r resource) {
	for other := range o.changed {
		if other.related(r) {
			delete(o.changed, other)
		}
	}
	for a := range o.answers {
		if a.related(r) {
			delete(o.answers, a)
		}
	}
}

// related reports whether one of two resources is a part of the other.
func (r resource) related(other resource) bool {
	return r.host == other.host &&
		(strings.HasPrefix(r.path+"/", other.path+"/") || strings.HasPrefix(other.path+"/", r.path+"/"))
}

// times are what may be times in an answer.
var times = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.\d]*|\b\d{9,19}\b`)

// withoutTimes is the answer to a request without the times of the run.
func withoutTimes(e *history.Event) []byte {
	return times.ReplaceAllFunc(e.Received, func(t []byte) []byte {
		if n, err := strconv.ParseInt(string(t), 10, 64); err == nil && !isUnixTime(n, e.At) {
			return t
		}
		return nil
	})
}

func sum(body []byte) uint64 {
	f := fnv.New64a()
	f.Write(body)
	return f.Sum64()
}
