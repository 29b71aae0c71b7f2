package apiserver

import (
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// get answers with the current state. A resourceVersion asks for a state at least that new, which
// the current one is unless the version lies in the future.
func (r *request) get() (*Response, error) {
	if r.query.Has("resourceVersion") {
		var opts metav1.GetOptions
		if err := readQuery(r.query, &opts, metav1.Convert_url_Values_To_v1_GetOptions); err != nil {
			return nil, err
		}
		wanted, err := parseRevision(opts.ResourceVersion)
		if err != nil {
			return nil, err
		}
		if wanted > r.s.Revision() {
			return nil, tooLargeRevision(wanted, r.s.Revision())
		}
	}
	o, ok := r.lookupAsOf(r.info.Name)
	if !ok {
		return nil, r.notFound()
	}
	return r.objectResponse(http.StatusOK, o), nil
}

// lookupAsOf is the object as the request's cache has it.
func (r *request) lookupAsOf(name string) (*object.Object, bool) {
	if r.AsOf == 0 || r.query.Get("resourceVersion") == "" {
		return r.lookup(name)
	}
	key := object.Key(r.info.Namespace, name)
	for _, item := range r.table().At(r.AsOf, key, "") {
		if item.Key == key {
			return item.Value, true
		}
	}
	return nil, false
}
