package versions

import "k8s.io/client-go/tools/cache"

// DoneChecker is client-go's interface of this name, which is there from 0.36 on. From then on
// informers and registrations of handlers have a method HasSyncedChecker that returns it.
//
// A wrapper that answers for itself has to return client-go's type, which 0.35 cannot name. So the
// wrapper is generic, and the compiler infers the type from a probe: a struct whose method is that
// of the embedded informer, or a deeper one if the informer has none.
type DoneChecker interface {
	Name() string
	Done() <-chan struct{}
}

type noChecker struct{}

func (noChecker) HasSyncedChecker() DoneChecker { return nil }

type deeper struct{ noChecker }

// Informer is a shared informer with a checker of its own.
type Informer interface {
	cache.SharedIndexInformer
	Checker() DoneChecker
}

// WithChecker returns the informer with a method HasSyncedChecker that returns its own checker.
func WithChecker(in Informer) cache.SharedIndexInformer {
	return checked(struct {
		cache.SharedIndexInformer
		deeper
	}{SharedIndexInformer: in}, in)
}

type informer[D any] struct{ Informer }

func (i informer[D]) HasSyncedChecker() D { return i.Checker().(D) }

func checked[D any](_ interface{ HasSyncedChecker() D }, in Informer) cache.SharedIndexInformer {
	return any(informer[D]{in}).(cache.SharedIndexInformer)
}

// Registration is a registration of a handler with a checker of its own.
type Registration interface {
	cache.ResourceEventHandlerRegistration
	Checker() DoneChecker
}

// RegistrationWithChecker is [WithChecker] for a registration.
func RegistrationWithChecker(r Registration) cache.ResourceEventHandlerRegistration {
	return checkedRegistration(struct {
		cache.ResourceEventHandlerRegistration
		deeper
	}{ResourceEventHandlerRegistration: r}, r)
}

type registration[D any] struct{ Registration }

func (r registration[D]) HasSyncedChecker() D { return r.Checker().(D) }

func checkedRegistration[D any](
	_ interface{ HasSyncedChecker() D }, r Registration,
) cache.ResourceEventHandlerRegistration {
	return any(registration[D]{r}).(cache.ResourceEventHandlerRegistration)
}
