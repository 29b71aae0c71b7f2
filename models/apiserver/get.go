package apiserver

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// get answers with the current state. A resourceVersion asks for a state at least that new, which the current one is
// unless the version lies in the future.
func (c *call) get() (*Response, error) {
	if c.query.Has("resourceVersion") {
		var opts metav1.GetOptions
		if err := metav1.Convert_url_Values_To_v1_GetOptions(&c.query, &opts, nil); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		wanted, err := parseRevision(opts.ResourceVersion)
		if err != nil {
			return nil, err
		}
		if wanted > c.s.Revision() {
			return nil, tooLargeRevision(wanted, c.s.Revision())
		}
	}
	o, ok := c.lookupAsOf(c.info.Name)
	if !ok {
		return nil, apierrors.NewNotFound(c.kind.groupResource(), c.info.Name)
	}
	return c.objectResponse(http.StatusOK, o), nil
}
