// This file exists for the wire: routes, the checks that an order must pass, and the replies.

package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// ServeHTTP implements [http.Handler].
func (f *Forge) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.routes.ServeHTTP(w, r) }

func (f *Forge) newRoutes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /repos/{owner}/{name}/pulls", f.servePost)
	mux.HandleFunc("GET /repos/{owner}/{name}/pulls", f.serveList)
	mux.HandleFunc("GET /repos/{owner}/{name}/pulls/{number}", f.serveGet)
	mux.HandleFunc("PATCH /repos/{owner}/{name}/pulls/{number}", f.servePatch)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "the forge model has no %s %s", r.Method, r.URL.Path)
	})
	return mux
}

func (f *Forge) servePost(w http.ResponseWriter, r *http.Request) {
	var o Order
	body := json.NewDecoder(r.Body)
	body.DisallowUnknownFields()
	if err := body.Decode(&o); err != nil {
		refuse(w, http.StatusBadRequest, "the order cannot be read: %v", err)
		return
	}
	if missing := o.missing(); len(missing) > 0 {
		refuse(w, http.StatusUnprocessableEntity, "the order lacks %s", strings.Join(missing, ", "))
		return
	}
	pr, created := f.carryOut(r.Context(), r.Host, repository(r), o)
	code := http.StatusOK
	if created {
		code = http.StatusCreated
	}
	reply(w, code, pr)
}

func (f *Forge) serveList(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	for name := range query {
		if name != "head" && name != "key" {
			refuse(w, http.StatusBadRequest, "the forge model lists by head and by key, and by nothing else")
			return
		}
	}
	reply(w, http.StatusOK, f.list(repository(r), query.Get("head"), query.Get("key")))
}

func (f *Forge) serveGet(w http.ResponseWriter, r *http.Request) {
	for _, pr := range f.list(repository(r), "", "") {
		if fmt.Sprint(pr.Number) == r.PathValue("number") {
			reply(w, http.StatusOK, pr)
			return
		}
	}
	refuse(w, http.StatusNotFound, "%s has no pull request %s", repository(r), r.PathValue("number"))
}

// servePatch closes a pull request: the one change of it that the model knows.
func (f *Forge) servePatch(w http.ResponseWriter, r *http.Request) {
	var change struct{ State string }
	if err := json.NewDecoder(r.Body).Decode(&change); err != nil || change.State != "closed" {
		refuse(w, http.StatusUnprocessableEntity, `the forge model takes {"state":"closed"}, and nothing else`)
		return
	}
	pr, ok := f.withdraw(repository(r), r.PathValue("number"))
	if !ok {
		refuse(w, http.StatusNotFound, "%s has no pull request %s", repository(r), r.PathValue("number"))
		return
	}
	reply(w, http.StatusOK, pr)
}

// missing names the fields that every order must have.
func (o Order) missing() []string {
	var out []string
	for _, f := range []struct{ name, value string }{
		{"branch", o.Branch}, {"title", o.Title}, {"pipelineUID", o.PipelineUID},
		{"environment", o.Environment}, {"revision", o.Revision},
	} {
		if f.value == "" {
			out = append(out, f.name)
		}
	}
	return out
}

func repository(r *http.Request) string { return r.PathValue("owner") + "/" + r.PathValue("name") }

func refuse(w http.ResponseWriter, code int, format string, args ...any) {
	reply(w, code, map[string]string{"message": fmt.Sprintf(format, args...)})
}

func reply(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// The body is made of strings and numbers, and the writer is in memory: there is nothing to
	// fail.
	_ = json.NewEncoder(w).Encode(body)
}
