package wire

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// recorder writes down in the history what happens on the wire.
type recorder struct {
	Sched   *sched.Scheduler
	History *history.History
	// Callers, when set, gets the stack that made each request, by the index of its event.
	Callers map[int][]uintptr
	// ByTimer, set like Callers, reports of each request whether nothing but time had passed before
	// it was sent.
	ByTimer map[int]bool

	server  *apiserver.Server
	backend Backend                  // that answers in place of server; nil for none
	beside  map[string]time.Duration // see Beside
}

// event is the beginning of an event about a call.
func (r *recorder) event(call *Call, k history.Kind) history.Event {
	if call.beside {
		r.beside[call.Port.Process] = r.Sched.Now()
	}
	e := r.Event(call.Port, k)
	e.Reconcile, e.Host = call.Reconcile, call.Host
	e.Verb, e.Ref, e.Sub = call.Verb(), call.Ref(), call.Info.Subresource
	return e
}

// Event is an event of an incarnation, at this moment.
func (r *recorder) Event(p *Port, k history.Kind) history.Event {
	return history.Event{Step: r.Sched.Steps(), At: r.Sched.Now(), Kind: k, Process: p.Process,
		Incarnation: p.Incarnation, Server: r.Revision()}
}

// record writes the request down as it took effect.
func (r *recorder) record(call *Call, resp *apiserver.Response) { r.recordAnswer(call, resp, false) }

// recordAnswer writes the request down with its answer, which may be a fault's.
func (r *recorder) recordAnswer(call *Call, resp *apiserver.Response, injected bool) {
	e := r.event(call, history.Request)
	e.Injected = injected
	if call.Host != "" {
		e.Path = call.Request.URL.RequestURI()
	}
	e.Sent, e.Source, e.Reads = call.Request.Body, call.source, call.reads
	if resp != nil {
		e.Code, e.Received = resp.Code, resp.Body
		for _, ch := range resp.Changes {
			e.Changes = append(e.Changes, change(ch, call.Cluster, r.Sched))
			e.Revision = ch.Revision
		}
		if len(resp.Changes) == 0 && call.Info.Name != "" && resp.Code < 300 {
			e.Revision = revisionOf(resp.Body)
		}
		if e.Ref.Name == "" && len(resp.Changes) == 1 { // of a create, whose URL has no name
			e.Ref.Name = resp.Changes[0].Name
		}
	}
	if e.Ref.Name == "" {
		e.Ref.Name = call.given()
	}
	call.event = r.History.Add(e)
	r.noteCaller(call.event, call)
}

// noteCaller notes from where and when the call was sent that an event is about.
func (r *recorder) noteCaller(event int, call *Call) {
	if r.Callers != nil {
		r.Callers[event] = call.callers
	}
	if r.ByTimer != nil {
		r.ByTimer[event] = call.byTimer
	}
}

func change(ch apiserver.Change, cluster string, s *sched.Scheduler) history.Change {
	ref := history.Ref{Cluster: cluster, Group: ch.Group, Kind: ch.Kind, Namespace: ch.Namespace, Name: ch.Name}
	return history.Change{
		Type: ch.Type, Ref: ref,
		UID: ch.UID, Revision: ch.Revision, At: s.Now(), Object: ch.Object, Previous: ch.Previous,
	}
}

// revisionOf reads the resource version of an encoded object; 0 when it has none.
func revisionOf(object []byte) int64 {
	var o struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(object, &o) != nil {
		return 0
	}
	n, _ := strconv.ParseInt(o.Metadata.ResourceVersion, 10, 64)
	return n
}

// delivery is the event of a frame's arrival.
func (r *recorder) delivery(s *Stream, f apiserver.Frame, data []byte) history.Event {
	ref := history.Ref{Group: s.Call.Info.Group, Kind: s.Kind, Namespace: f.Namespace, Name: f.Name}
	ref.Cluster = s.Call.Cluster
	e := r.Event(s.Port, history.Deliver)
	e.Verb, e.Ref, e.Revision, e.Received = f.Type, ref, f.Revision, data
	return e
}

// Beside is when goroutines of a process that work next to its controllers last sent a request that
// is known to be theirs, or received its reply. ok is false if they never did. The scheduling
// goroutine may call it.
func (r *recorder) Beside(process string) (at time.Duration, ok bool) {
	at, ok = r.beside[process]
	return at, ok
}

// Revision is the newest resource version of the world's own cluster.
func (r *recorder) Revision() int64 {
	if r.backend != nil {
		return r.backend.Revision()
	}
	return r.server.Revision()
}
