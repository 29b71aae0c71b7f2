package apiserver

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// serveWatch begins a watch, which its owner advances.
func serveWatch(r *request) (*Response, error) {
	q, err := readListQuery(r)
	if err != nil {
		return nil, err
	}
	w := &Watch{s: r.s, kind: r.kind.Type, view: r.reply.View, query: q}
	if q.TimeoutSeconds != nil {
		w.timeout = time.Duration(*q.TimeoutSeconds) * time.Second
	}
	from, err := parseRevision(q.ResourceVersion)
	if err != nil {
		return nil, err
	}
	w.start(from, r.AsOf)
	return &Response{Code: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Watch: w}, nil
}

// CacheWait is how long a server lets a request wait for its watch cache to become fresh enough.
// Then it reads the storage itself (a list without a resourceVersion), or refuses the request with
// [TooLargeRevision]. It is 3 s.
const CacheWait = 3 * time.Second

// FromCache reports whether the server answers a request from its watch cache, and which revision
// the cache must have reached for that: 0 is any, so the answer may be as old as the cache is.
// Writes, gets without a resourceVersion and lists at one exact revision are answered from the
// storage.
func (s *Server) FromCache(req *Request) (needs int64, cached bool) {
	info, ok := req.Info()
	if !ok {
		return 0, false
	}
	q := req.parse().query
	version := q.Get("resourceVersion")
	at, _ := strconv.ParseInt(version, 10, 64)
	switch info.Verb {
	case "get":
		return at, version != ""
	case "list":
		if q.Get("continue") != "" || q.Get("resourceVersionMatch") == string(metav1.ResourceVersionMatchExact) ||
			at > 0 && limited(q) &&
				q.Get("resourceVersionMatch") == "" {
			return 0, false
		}
		if version == "" {
			at = s.Revision()
		}
		return at, true
	case "watch":
		if initial, _ := strconv.ParseBool(q.Get("sendInitialEvents")); !initial {
			return 0, true // one that starts in the future only waits for its events
		}
		if version == "" {
			at = s.Revision()
		}
		return at, true
	}
	return 0, false
}

func limited(q url.Values) bool { return q.Get("limit") != "" && q.Get("limit") != "0" }

// TooLargeRevision is the answer of a server to a request that wants a revision which the server
// has not reached, to be given after [CacheWait]: for a watch as its first event, as kube-apiserver
// does once a watch is authorised.
func (s *Server) TooLargeRevision(req *Request, wanted, current int64) *Response {
	err := tooLargeRevision(wanted, current)
	if info, ok := req.Info(); ok && info.Verb == "watch" {
		return &Response{Code: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
			Watch: &Watch{refused: err}}
	}
	return errorResponse(err)
}
