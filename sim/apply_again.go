package sim

import (
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// ApplyAgain applies once more what [World.Apply] and [World.ApplyServerSide] applied last, as the
// next synchronisation of a GitOps tool does. It takes the place of a [World.Settle]:
//
//  1. The world settles, as in Settle.
//  2. Each object that is still there and is not being deleted is applied again, in the order in
//     which they were applied first. What was given to [World.Remove] since is left out, and so is
//     what the scenario has changed since by [World.Client]: applying would take that back.
//  3. The world settles again. No faults are injected from 1 to here.
//
// The property "apply is stable" of the default pack then compares the world with what it was before.
// A run in which the world did not settle before is not compared.
func (w *World) ApplyAgain() {
	w.between("w.ApplyAgain")
	users := []*userClient{w.user}
	for _, c := range w.clusters {
		users = append(users, c.user)
	}
	if !slices.ContainsFunc(users, func(u *userClient) bool { return len(u.sent) > 0 }) {
		w.misuse("w.ApplyAgain: nothing was applied before, by w.Apply or w.ApplyServerSide, that was not removed since")
	}
	w.storm()
	w.heal()
	w.rest()
	w.note(history.Event{Kind: history.Again, Process: userName})
	for _, user := range users {
		for _, s := range slices.Clone(user.sent) {
			w.sendAgain(user, s)
		}
	}
	w.rest()
	w.strike()
}

// sent is an object that the user applied.
type sent struct {
	id         string // group, kind and name
	obj        client.Object
	serverSide bool
	event      int // how many events there were then
}

func (w *World) sendAgain(user *userClient, s sent) {
	if w.edited(user, s) {
		return
	}
	live := s.obj.DeepCopyObject().(client.Object)
	err := user.Get(w.ctx, client.ObjectKeyFromObject(s.obj), live)
	switch {
	case apierrors.IsNotFound(err) || err == nil && live.GetDeletionTimestamp() != nil:
	case err != nil:
		w.misuse("w.ApplyAgain of %s: %v", describe(s.obj, user), err)
	case s.serverSide:
		w.applyServerSide(user, []client.Object{s.obj})
	default:
		w.apply(user, []client.Object{s.obj})
	}
}

// edited says whether the user has changed an object since it was applied.
func (w *World) edited(user *userClient, s sent) bool {
	gvk, err := user.GroupVersionKindFor(s.obj)
	if err != nil {
		return false
	}
	ref := history.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: s.obj.GetNamespace(), Name: s.obj.GetName()}
	if host := strings.TrimPrefix(user.cfg.Host, "http://"); host != wire.APIHost {
		ref.Cluster = host
	}
	return slices.ContainsFunc(w.history.Events, func(e history.Event) bool {
		return e.Index >= s.event && e.Process == userName &&
			slices.ContainsFunc(e.Changes, func(c history.Change) bool { return c.Ref == ref })
	})
}

// keep remembers what was applied last, when there were so many events.
func (u *userClient) keep(obj client.Object, serverSide bool, event int) {
	s := sent{u.idOf(obj), obj.DeepCopyObject().(client.Object), serverSide, event}
	for i := range u.sent {
		if u.sent[i].id == s.id {
			u.sent[i] = s
			return
		}
	}
	u.sent = append(u.sent, s)
}

// drop forgets an object that the user does not want any more.
func (u *userClient) drop(obj client.Object) {
	id := u.idOf(obj)
	u.sent = slices.DeleteFunc(u.sent, func(s sent) bool { return s.id == id })
}

func (u *userClient) idOf(obj client.Object) string {
	gvk, err := u.GroupVersionKindFor(obj)
	if err != nil {
		return ""
	}
	return gvk.GroupKind().String() + " " + client.ObjectKeyFromObject(obj).String()
}
