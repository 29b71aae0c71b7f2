package auto

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
)

// REST is a guess at an HTTP service outside the cluster of which only the host is known:
//
//	w.External("api.dns.example", auto.REST())
//
// It keeps what is sent. POST to a path makes an item below it, and answers with what was sent and
// its id; the same Idempotency-Key makes one item. The id depends on what was sent and how often,
// so that who comes first gets no other one. PUT keeps what is sent at the path,
// and PATCH merges it. GET answers with what is kept at the path, or with a list of what is kept
// below it. DELETE removes it. What is not there is 404, or an empty list for a GET with a query.
//
// That an item is made or removed is an effect, by its path.
func REST() http.Handler { return &rest{posted: map[string]int{}, asked: map[string]string{}} }

type rest struct {
	items  []item
	posted map[string]int    // how often, by path and content
	asked  map[string]string // paths of items, by Idempotency-Key
}

type item struct {
	path string
	body map[string]any
}

func (s *rest) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	path := strings.TrimRight(r.URL.Path, "/")
	sent := map[string]any{}
	_ = json.NewDecoder(r.Body).Decode(&sent) // of what is no JSON object only the path is kept
	at := s.find(path)
	switch {
	case r.Method == http.MethodPost:
		path = s.post(r, path, sent)
		rw.Header().Set("Location", path)
		answer(rw, http.StatusCreated, s.items[s.find(path)].body)
	case r.Method == http.MethodPut:
		s.keep(r, path, sent)
		answer(rw, http.StatusOK, sent)
	case r.Method == http.MethodPatch && at >= 0:
		maps.Copy(s.items[at].body, sent)
		answer(rw, http.StatusOK, s.items[at].body)
	case r.Method == http.MethodGet && at >= 0:
		answer(rw, http.StatusOK, s.items[at].body)
	case r.Method == http.MethodGet && (r.URL.RawQuery != "" || len(s.below(path)) > 0):
		answer(rw, http.StatusOK, s.below(path))
	case r.Method == http.MethodDelete && at >= 0:
		s.items = slices.Delete(s.items, at, at+1)
		history.AddEffect(r.Context(), history.Effect{Kind: "removes", Key: path, Detail: "removes " + path})
		rw.WriteHeader(http.StatusNoContent)
	default:
		answer(rw, http.StatusNotFound, map[string]any{"error": path + " is not there"})
	}
}

// post makes an item, unless the same request has made one, and says where it is.
func (s *rest) post(r *http.Request, path string, sent map[string]any) string {
	key := r.Header.Get("Idempotency-Key")
	if made := s.asked[key]; key != "" && s.find(made) >= 0 {
		return made
	}
	content, _ := json.Marshal(sent) // of what was decoded
	sum := fnv.New32a()
	_, _ = sum.Write(content)
	s.posted[path+string(content)]++
	id := fmt.Sprintf("%08x-%d", sum.Sum32(), s.posted[path+string(content)])
	if sent["id"] == nil || sent["id"] == "" {
		sent["id"] = id
	}
	path += "/" + id
	s.asked[key] = path
	s.keep(r, path, sent)
	return path
}

// keep keeps what was sent at a path.
func (s *rest) keep(r *http.Request, path string, sent map[string]any) {
	if at := s.find(path); at >= 0 {
		s.items[at].body = sent
		return
	}
	s.items = append(s.items, item{path, sent})
	history.AddEffect(r.Context(), history.Effect{Kind: "makes", Key: path, Detail: "makes " + path})
}

func (s *rest) find(path string) int {
	return slices.IndexFunc(s.items, func(i item) bool { return i.path == path })
}

// below are the items of a path, in the order in which they were made.
func (s *rest) below(path string) []any {
	out := []any{}
	for _, i := range s.items {
		if strings.HasPrefix(i.path, path+"/") {
			out = append(out, i.body)
		}
	}
	return out
}

func answer(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body) // to a connection in memory
}
