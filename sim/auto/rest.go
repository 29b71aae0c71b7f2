package auto

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/world"
)

// REST is a guess at an HTTP service outside the cluster of which only the host is known:
//
//	w.External("api.dns.example", auto.REST())
//
// It keeps what is sent. POST to a path makes an item below it, and answers with 201, what was sent
// and its id. PUT keeps what is sent at the path, and PATCH merges it. GET answers with what is
// kept at the path, or with a list of what is kept below it. DELETE removes it. What is not there
// is 404, or an empty list for a GET with a query. A query selects the items whose fields have
// these values: GET /records?reference=7 lists them, and DELETE removes them. Parameters that no
// item has as a field are ignored.
//
// Ids are numbers, in the order in which items of a path are made. A POST that was sent before
// makes no second item:
//
//   - With the same Idempotency-Key, or the same reference in the body, the answer is 200 and the
//     first item. A reference is a field with a name like reference, requestId, idempotencyKey,
//     externalId or uid.
//   - Without one, and with a field called name, the same body again is answered with 409 and the
//     first item.
//
// That an item is made or removed is an effect, by its path.
func REST() http.Handler {
	return &rest{made: map[string]int{}, asked: map[string]string{}}
}

type rest struct {
	items []item
	made  map[string]int    // how many, by path
	asked map[string]string // paths of items, by what a POST that makes them again has in common with the first
}

type item struct {
	path string
	body map[string]any
}

func (r *rest) ServeHTTP(rw http.ResponseWriter, req *http.Request) {
	path := strings.TrimRight(req.URL.Path, "/")
	sent := map[string]any{}
	_ = json.NewDecoder(req.Body).Decode(&sent) // without a JSON object, the path is kept
	at, query := r.find(path), req.URL.Query()
	switch {
	case req.Method == http.MethodPost:
		code, path := r.post(req, path, sent)
		rw.Header().Set("Location", path)
		answer(rw, code, r.items[r.find(path)].body)
	case req.Method == http.MethodPut:
		r.keep(req, path, sent)
		answer(rw, http.StatusOK, sent)
	case req.Method == http.MethodPatch && at >= 0:
		maps.Copy(r.items[at].body, sent)
		answer(rw, http.StatusOK, r.items[at].body)
	case req.Method == http.MethodGet && at >= 0:
		answer(rw, http.StatusOK, r.items[at].body)
	case req.Method == http.MethodGet && (len(query) > 0 || len(r.below(path, nil)) > 0):
		out := []any{}
		for _, i := range r.below(path, query) {
			out = append(out, i.body)
		}
		answer(rw, http.StatusOK, out)
	case req.Method == http.MethodDelete && at >= 0:
		r.remove(req, path)
		rw.WriteHeader(http.StatusNoContent)
	case req.Method == http.MethodDelete && r.selects(path, query) && len(r.below(path, query)) > 0:
		for _, i := range r.below(path, query) {
			r.remove(req, i.path)
		}
		rw.WriteHeader(http.StatusNoContent)
	default:
		answer(rw, http.StatusNotFound, map[string]any{"error": path + " is not there"})
	}
}

// post makes an item, unless the same was asked for before. It returns the status of the answer and
// where the item is.
func (r *rest) post(req *http.Request, path string, sent map[string]any) (code int, at string) {
	key, again := r.key(req, path, sent)
	if made := r.asked[key]; key != "" && r.find(made) >= 0 {
		return again, made
	}
	r.made[path]++
	number := r.made[path]
	if w := world.From(req.Context()); w != nil && w.Redrawn() {
		number += 500000 // ids are as good as any others
	}
	id := fmt.Sprintf("%06d", number)
	if sent["id"] == nil || sent["id"] == "" {
		sent["id"] = id
	}
	path += "/" + id
	r.asked[key] = path
	r.keep(req, path, sent)
	return http.StatusCreated, path
}

// references are names of fields by which a client knows again what it has asked for, in lower case
// and without punctuation, in the order in which they are looked for.
var references = []string{"idempotencykey", "idempotencytoken", "clienttoken", "requestid", "clientrequestid",
	"reference", "clientreference", "externalreference", "externalid", "uid"}

// plain is a field's name in lower case and without punctuation.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

// key is what two POSTs for the same item have in common, and the status of the answer to the
// second; "" if there is nothing.
func (r *rest) key(req *http.Request, path string, sent map[string]any) (key string, again int) {
	if key := req.Header.Get("Idempotency-Key"); key != "" {
		return "key " + key, http.StatusOK
	}
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		fields[plain(name)] = sent[name]
	}
	for _, name := range references {
		if v := fields[name]; v != nil && v != "" {
			return fmt.Sprint(path, " ", name, " ", v), http.StatusOK
		}
	}
	if v := fields["name"]; v != nil && v != "" {
		content, _ := json.Marshal(sent) // of what was decoded
		return path + " " + string(content), http.StatusConflict
	}
	return "", 0
}

// keep keeps what was sent at a path.
func (r *rest) keep(req *http.Request, path string, sent map[string]any) {
	if at := r.find(path); at >= 0 {
		r.items[at].body = sent
		return
	}
	r.items = append(r.items, item{path, sent})
	history.AddEffect(req.Context(), history.Effect{Kind: "makes", Key: path, Detail: "makes " + path})
}

func (r *rest) find(path string) int {
	return slices.IndexFunc(r.items, func(i item) bool { return i.path == path })
}

func (r *rest) remove(req *http.Request, path string) {
	at := r.find(path)
	r.items = slices.Delete(r.items, at, at+1)
	history.AddEffect(req.Context(), history.Effect{Kind: "removes", Key: path, Detail: "removes " + path})
}

// below are the items of a path that a query selects, in the order in which they were made.
func (r *rest) below(path string, query url.Values) (out []item) {
	for _, i := range r.items {
		if strings.HasPrefix(i.path, path+"/") {
			out = append(out, i)
		}
	}
	all := out
	for name, values := range query {
		if isField(all, name) {
			out = slices.DeleteFunc(slices.Clone(out), func(i item) bool {
				return !slices.Contains(values, fmt.Sprint(i.body[name]))
			})
		}
	}
	return out
}

// selects reports whether a query selects some of the items of a path.
func (r *rest) selects(path string, query url.Values) bool {
	all := r.below(path, nil)
	for name := range query {
		if isField(all, name) {
			return true
		}
	}
	return false
}

// isField reports whether an item has a field of this name, or may have one as a reference.
func isField(items []item, name string) bool {
	return slices.Contains(references, plain(name)) ||
		slices.ContainsFunc(items, func(i item) bool { return i.body[name] != nil })
}

func answer(rw http.ResponseWriter, status int, body any) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(body) // to a connection in memory
}
