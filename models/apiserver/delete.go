package apiserver

import (
	"errors"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	kjson "sigs.k8s.io/json"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
	"github.com/wavetank/wavetank/models/apiserver/internal/registry"
)

// serveDelete removes an object, or marks it when something still has to happen first.
func serveDelete(r *request) (*Response, error) {
	d, err := readDeletion(r)
	if err != nil {
		return nil, err
	}
	o, err := r.stored()
	if err != nil {
		return nil, err
	}
	if err := d.admit(o); err != nil {
		return nil, err
	}
	strategy, orphan := r.kind.Strategy, d.opts.OrphanDependents //nolint:staticcheck // deprecated, still served
	if strategy != nil && strategy.DeleteWarning != "" && d.opts.PropagationPolicy == nil && orphan == nil {
		r.warn(strategy.DeleteWarning)
	}
	last, gone, err := d.perform(o)
	if err != nil {
		return nil, err
	}
	code := http.StatusOK
	if !gone && orphan != nil && !*orphan {
		code = http.StatusAccepted
	}
	// An object that is marked but not gone is shown; one that is gone is reported by a Status,
	// except for the types that return it (registry/generic/registry/store.go, finalizeDelete).
	if gone && (strategy == nil || !strategy.ReturnsDeleted) {
		return jsonResponse(code, object.Marshal(r.deletedStatus(last))), nil
	}
	return r.reply.object(code, last), nil
}

func (r *request) deletedStatus(o *object.Object) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusSuccess,
		Details: &metav1.StatusDetails{
			Name:  o.Meta.Name,
			Group: r.kind.Group,
			Kind:  r.kind.Plural,
			UID:   o.Meta.UID,
		},
	}
}

// deletion is a write that deletes, with its options.
type deletion struct {
	*write
	opts *metav1.DeleteOptions
}

// readDeletion reads what a deletion says: its options come from the body when there is one, else
// from the query.
func readDeletion(r *request) (*deletion, error) {
	opts := &metav1.DeleteOptions{}
	if len(r.Body) == 0 {
		if err := readQuery(r.query, opts, metav1.Convert_url_Values_To_v1_DeleteOptions); err != nil {
			return nil, err
		}
	} else if err := r.readDeleteOptions(opts); err != nil {
		return nil, err
	}
	w := &write{request: r, writeOptions: writeOptions{dryRun: len(opts.DryRun) > 0}}
	return &deletion{w, opts}, invalidOptions("DeleteOptions", metavalidation.ValidateDeleteOptions(opts))
}

// readDeleteOptions reads the options in a body.
func (r *request) readDeleteOptions(opts *metav1.DeleteOptions) error {
	body, err := r.jsonBody()
	if err != nil {
		return err
	}
	apiVersion, kind, err := object.TypeOf(body)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	if kind != "" && kind != "DeleteOptions" {
		return apierrors.NewBadRequest(object.NoKindError(kind, apiVersion).Error())
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, opts); err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	return nil
}

// perform deletes an object by the rules of its type. It returns the last or marked state, and
// whether the object is gone.
func (d *deletion) perform(o *object.Object) (*object.Object, bool, error) {
	switch o.Typed.(type) {
	case *corev1.Namespace:
		return d.ofNamespace(o)
	case *apiextensionsv1.CustomResourceDefinition:
		return d.ofDefinition(o)
	default:
		return d.ofObject(o)
	}
}

// serveDeleteCollection deletes what a list with the same options would show, in its order.
func serveDeleteCollection(r *request) (*Response, error) {
	q, err := readListQuery(r)
	if err != nil {
		return nil, err
	}
	d, err := readDeletion(r)
	if err != nil {
		return nil, err
	}
	page, err := (&listing{r, q}).page()
	if err != nil {
		return nil, err
	}
	for _, o := range page.objects {
		if d, err = d.ofItem(o); err != nil {
			return nil, err
		}
	}
	return d.reply.list(page), nil
}

// ofItem deletes an object of a collection, unless it has gone meanwhile. It returns the deletion
// to continue with, which is another one if the kind's definition has been replaced.
func (d *deletion) ofItem(o *object.Object) (*deletion, error) {
	for {
		r := *d.request
		r.info.Namespace = o.Meta.Namespace
		one := &deletion{&write{request: &r, writeOptions: d.writeOptions}, d.opts}
		now, exists := one.lookup(o.Meta.Name)
		if !exists {
			return one, nil
		}
		err := one.admit(now)
		if err == nil {
			_, _, err = (&deletion{one.write, d.opts.DeepCopy()}).perform(now)
		}
		if !errors.Is(err, errMoved) {
			return one, err
		}
		if r.kind, r.ver, err = resolve(&r.s.registry, r.Method, r.info); err != nil {
			return nil, err
		}
		d = one
	}
}

// admit lets admission judge the deletion of an object
// (staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go). A deletion that is under way already
// is not judged again.
func (d *deletion) admit(o *object.Object) error {
	a := &admitting{write: d.write, operation: "DELETE", old: o}
	if err := a.protects(o); err != nil || !a.admits() {
		return err
	}
	if n, ok := o.Typed.(*corev1.Namespace); ok && n.DeletionTimestamp != nil && len(n.Spec.Finalizers) > 0 {
		return nil
	}
	if err := d.kind.CheckPreconditions(d.opts.Preconditions, o); err != nil {
		return err
	}
	if _, pending := d.kind.BeginGraceful(o.Draft(), d.opts.DeepCopy(), d.s.now()); pending {
		return nil
	}
	options := d.opts.DeepCopy()
	options.TypeMeta = metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "DeleteOptions"}
	attempt := a.attempt(nil, options)
	if err := d.s.admission.Mutate(attempt); err != nil {
		return err
	}
	if err := d.s.admission.Validate(attempt); err != nil {
		return err
	}
	return a.moved(o)
}

// ofObject follows registry/generic/registry/store.go (Delete) and registry/rest/delete.go
// (BeforeDelete). It returns the last or marked state and whether the object is gone.
func (d *deletion) ofObject(o *object.Object) (*object.Object, bool, error) {
	if err := d.kind.CheckPreconditions(d.opts.Preconditions, o); err != nil {
		return nil, false, err
	}
	// An object is read in the version of the request. Fields that this version does not have are
	// lost when it is written again.
	draft := o.In(d.ver).Draft()
	graceful, pending := d.kind.BeginGraceful(draft, d.opts, d.s.now())
	if pending {
		return o, false, nil
	}
	finalizers := d.kind.PropagationFinalizers(draft.Meta, d.opts)
	draft.Meta.Finalizers = finalizers
	if !graceful && len(finalizers) == 0 {
		return d.remove(o), true, nil
	}
	if !graceful {
		registry.MarkDeleting(draft.Meta, d.s.now())
	}
	stored, err := d.commit(draft, o)
	if err != nil {
		return nil, false, err
	}
	if len(finalizers) > 0 || !graceful || *draft.Meta.DeletionGracePeriodSeconds > 0 {
		return stored, false, nil
	}
	return d.remove(stored), true, nil
}

// ofDefinition marks a definition; its instances go first
// (apiextensions-apiserver's pkg/registry/customresourcedefinition/etcd.go).
func (d *deletion) ofDefinition(o *object.Object) (*object.Object, bool, error) {
	crd := o.Typed.(*apiextensionsv1.CustomResourceDefinition)
	if why := failedPrecondition(d.opts.Preconditions, o.Meta); why != "" {
		err := errors.New("precondition failed: " + why)
		return nil, false, apierrors.NewConflict(d.kind.GroupResource(), crd.Name, err)
	}
	if crd.DeletionTimestamp != nil {
		return d.ofObject(o)
	}
	draft := o.Draft()
	now := metav1.NewTime(d.s.now())
	draft.Meta.DeletionTimestamp = &now
	if !slices.Contains(draft.Meta.Finalizers, cleanupFinalizer) {
		draft.Meta.Finalizers = append(draft.Meta.Finalizers, cleanupFinalizer)
	}
	registry.Terminate(draft.Typed.(*apiextensionsv1.CustomResourceDefinition), now, apiextensionsv1.ConditionTrue,
		"InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	stored, err := d.commit(draft, o)
	return stored, false, err
}

// ofNamespace marks a namespace and changes its phase in one write; what follows is the
// namespace controller's work. Only a namespace whose finalizers have gone is removed
// (pkg/registry/core/namespace/storage/storage.go, Delete).
func (d *deletion) ofNamespace(o *object.Object) (*object.Object, bool, error) {
	n := o.Typed.(*corev1.Namespace)
	if why := failedPrecondition(d.opts.Preconditions, o.Meta); why != "" {
		return nil, false, apierrors.NewConflict(namespaceResource, n.Name, errors.New("Precondition failed: "+why))
	}
	if n.DeletionTimestamp != nil {
		if len(n.Spec.Finalizers) > 0 {
			if d.s.options.RefuseDeleteOfTerminating {
				return nil, false, apierrors.NewConflict(namespaceResource, n.Name, errors.New(terminating))
			}
			return o, false, nil
		}
		return d.ofObject(o)
	}
	draft := o.Draft()
	now := metav1.NewTime(d.s.now())
	draft.Meta.DeletionTimestamp = &now
	draft.Typed.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
	draft.Meta.Finalizers = namespaceFinalizers(draft.Meta.Finalizers, d.opts)
	stored, err := d.commit(draft, o)
	return stored, false, err
}

// terminating is what old servers said of a namespace that is being deleted.
const terminating = "The system is ensuring all content is removed from this namespace.  " +
	"Upon completion, this namespace will automatically be purged by the system."

func namespaceFinalizers(finalizers []string, opts *metav1.DeleteOptions) []string {
	orphan, foreground := slices.Contains(finalizers, metav1.FinalizerOrphanDependents),
		slices.Contains(finalizers, metav1.FinalizerDeleteDependents)
	switch {
	case opts.OrphanDependents != nil: //nolint:staticcheck // deprecated, still served
		orphan = *opts.OrphanDependents //nolint:staticcheck // deprecated, still served
		foreground = !orphan
	case opts.PropagationPolicy != nil:
		orphan = *opts.PropagationPolicy == metav1.DeletePropagationOrphan
		foreground = *opts.PropagationPolicy == metav1.DeletePropagationForeground
	}
	var out []string
	for _, f := range finalizers {
		if f != metav1.FinalizerOrphanDependents && f != metav1.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, metav1.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, metav1.FinalizerDeleteDependents)
	}
	return out
}
