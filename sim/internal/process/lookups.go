package process

import (
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
)

// lookups are what processes have looked up and not found.
type lookups struct {
	unserved sync.Map // by schema.GroupKind
	missing  sync.Map // by history.Ref, objects that caches were asked for
}

// unservedKinds remembers the kinds that a mapper does not find.
type unservedKinds struct {
	meta.RESTMapper
	lookups *lookups
}

func (u unservedKinds) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	m, err := u.RESTMapper.RESTMapping(gk, versions...)
	if meta.IsNoMatchError(err) {
		u.lookups.unserved.Store(gk, true)
	}
	return m, err
}

// noteMissing remembers what a cache was asked for and did not have. The error has its kind.
func (l *lookups) noteMissing(key client.ObjectKey, err error) {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return
	}
	of := status.Status().Details
	l.missing.Store(history.Ref{Group: of.Group, Kind: of.Kind, Namespace: key.Namespace, Name: key.Name}, true)
}

// Missing are the objects that caches were asked for and did not have, in order.
func (l *lookups) Missing() (out []history.Ref) {
	l.missing.Range(func(ref, _ any) bool {
		out = append(out, ref.(history.Ref))
		return true
	})
	slices.SortFunc(out, history.Ref.Compare)
	return out
}
