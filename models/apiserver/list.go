package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// readListQuery reads and checks the options of a list, a watch or a deletion of a collection.
func readListQuery(r *request) (*listQuery, error) {
	q := &listQuery{}
	if err := readQuery(r.query, &q.ListOptions, metav1.Convert_url_Values_To_v1_ListOptions); err != nil {
		return nil, err
	}
	q.Watch = r.info.Verb == "watch"
	internal := internalversion.ListOptions{
		Watch:                q.Watch,
		ResourceVersion:      q.ResourceVersion,
		ResourceVersionMatch: q.ResourceVersionMatch,
		Continue:             q.Continue,
		SendInitialEvents:    q.SendInitialEvents,
	}
	internalversion.SetListOptionsDefaults(&internal, true)
	if err := invalidOptions("ListOptions", internalvalidation.ValidateListOptions(&internal, true)); err != nil {
		return nil, err
	}
	q.SendInitialEvents, q.ResourceVersionMatch = internal.SendInitialEvents, internal.ResourceVersionMatch
	var err error
	if q.Selector, err = selectors(r, &q.ListOptions); err != nil {
		return nil, err
	}
	return q, nil
}

func selectors(r *request, opts *metav1.ListOptions) (object.Selector, error) {
	s := object.Selector{Name: r.info.Name}
	if r.info.Namespace != "" {
		s.Prefix = r.info.Namespace + "/"
	}
	if opts.LabelSelector != "" {
		parsed, err := labels.Parse(opts.LabelSelector)
		if err != nil {
			return s, apierrors.NewBadRequest(err.Error())
		}
		if !parsed.Empty() {
			s.Labels = parsed
		}
	}
	if opts.FieldSelector == "" {
		return s, nil
	}
	parsed, err := fields.ParseSelector(opts.FieldSelector)
	if err != nil {
		return s, apierrors.NewBadRequest(err.Error())
	}
	for _, needed := range parsed.Requirements() {
		if r.ver.FieldValue(needed.Field) == nil {
			return s, r.ver.UnknownField(needed.Field)
		}
	}
	if !parsed.Empty() {
		s.Fields, s.Values = parsed, r.ver.FieldValue
	}
	// A name alone is no key where several namespaces may have it, and later pages are of what the
	// first was.
	_, named := parsed.RequiresExactMatch("metadata.name")
	_, placed := parsed.RequiresExactMatch("metadata.namespace")
	s.Single = named && opts.Continue == "" && (placed || s.Prefix != "" || !r.kind.Namespaced)
	return s, nil
}

// serveList answers with a collection, or a page of it.
func serveList(r *request) (*Response, error) {
	q, err := readListQuery(r)
	if err != nil {
		return nil, err
	}
	p, err := (&listing{r, q}).page()
	if err != nil {
		return nil, err
	}
	return r.reply.list(p), nil
}

// listing is a list, or the choice of what a deletion of a collection deletes.
type listing struct {
	*request
	query *listQuery
}

// page reads the objects that a list shows. The meaning of the versions is that of
// staging/src/k8s.io/apiserver/pkg/storage/interfaces.go (ValidateListOptions).
func (l *listing) page() (*listPage, error) {
	exact, after, err := l.revision()
	if err != nil {
		return nil, err
	}
	current := l.s.Revision()
	switch {
	case exact > current:
		return nil, tooLargeRevision(exact, current)
	case exact > 0 && exact < l.s.store.Trimmed():
		return nil, compacted(l.query.Continue != "", strings.TrimPrefix(after, l.query.Prefix))
	}
	p := &listPage{revision: current}
	if exact > 0 {
		p.revision = exact
	}
	l.fill(p, exact, after)
	return p, nil
}

// fill collects matching objects up to the limit and notes what remains.
func (l *listing) fill(p *listPage, exact int64, after string) {
	q := l.query
	last, more, count := "", false, int64(0)
	limit := q.Limit
	if q.ResourceVersion == "0" || q.Single {
		limit = 0 // served from the cache, and by the object's key
	}
	visit := func(key string, o *object.Object) bool {
		if limit > 0 && int64(len(p.objects)) == limit {
			more = true
			count++
			return q.Selector.Empty()
		}
		if q.Selector.Matches(o) {
			p.objects = append(p.objects, o)
		}
		last = key
		return true
	}
	if exact > 0 && exact < l.s.Revision() {
		for _, item := range l.table().At(exact, q.Prefix, after) {
			if !visit(item.Key, item.Value) {
				break
			}
		}
	} else {
		for key, o := range l.table().Range(q.Prefix, after) {
			if !visit(key, o) {
				break
			}
		}
	}
	if more {
		p.next = encodeContinue(p.revision, "/"+strings.TrimPrefix(last, q.Prefix)+"\x00")
		if q.Selector.Empty() {
			p.remaining = &count
		}
	}
}

// revision is the exact revision to list at, 0 for the current one, and the key after which to
// start.
func (l *listing) revision() (exact int64, after string, err error) {
	q := l.query
	if q.Continue != "" {
		start, revision, err := decodeContinue(q.Continue)
		if err != nil {
			return 0, "", apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
		}
		if q.ResourceVersion != "" && q.ResourceVersion != "0" {
			return 0, "", apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		return max(revision, 0), q.Prefix + strings.TrimSuffix(start, "\x00"), nil
	}
	if q.ResourceVersion == "" {
		return 0, "", nil
	}
	atLeast, err := parseRevision(q.ResourceVersion)
	if err != nil {
		return 0, "", apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: %v", err))
	}
	paged := q.Limit > 0 && atLeast > 0 && !q.Single
	if q.ResourceVersionMatch == metav1.ResourceVersionMatchExact || q.ResourceVersionMatch == "" && paged {
		return atLeast, "", nil
	}
	if atLeast > l.s.Revision() {
		return 0, "", tooLargeRevision(atLeast, l.s.Revision())
	}
	return l.AsOf, "", nil
}

func decodeContinue(text string) (start string, revision int64, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", 0, fmt.Errorf("continue key is not valid: %w", err)
	}
	var token continueToken
	if err := json.Unmarshal(raw, &token); err != nil {
		return "", 0, fmt.Errorf("continue key is not valid: %w", err)
	}
	switch {
	case token.Version != "meta.k8s.io/v1":
		return "", 0, fmt.Errorf("continue key is not valid: server does not recognize this encoded version %v",
			token.Version)
	case token.Revision == 0:
		return "", 0, fmt.Errorf(
			"continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)")
	case token.Start == "":
		return "", 0, fmt.Errorf("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)")
	}
	key := "/" + strings.TrimPrefix(token.Start, "/")
	if path.Clean(key) != key {
		return "", 0, fmt.Errorf("continue key is not valid: %v", token.Start)
	}
	return key[1:], token.Revision, nil
}

// compacted is the answer to a list at a forgotten revision; one that was paging may continue at
// the current state (staging/src/k8s.io/apiserver/pkg/storage/etcd3/errors.go).
func compacted(paging bool, after string) error {
	if !paging {
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	err := apierrors.NewResourceExpired(
		"The provided continue parameter is too old to display a consistent list result. " +
			"You can start a new list without the continue parameter, or use the continue token in this response to " +
			"retrieve " +
			"the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
			"objects that " +
			"were created, modified, or deleted between the time the first chunk was returned and now may show up in " +
			"the list.")
	err.ErrStatus.Continue = encodeContinue(-1, "/"+after+"\x00")
	return err
}

// serveGet answers with the current state. A resourceVersion asks for a state at least that new,
// which the current one is unless the version lies in the future.
func serveGet(r *request) (*Response, error) {
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
	return r.reply.object(http.StatusOK, o), nil
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
