package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/models/admission"
	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/run"
	"github.com/wavetank/wavetank/sim/internal/user"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// newUser makes the scenario's client of a cluster. The world continues until a request is
// answered. While a property is judged, the client reads the state of the server at once.
func (w *World) newUser(host string, server *apiserver.Server) *user.Client {
	port := w.wire.NewPort(run.User, 0)
	port.User, port.Groups = "admin", []string{"system:masters", "system:authenticated"}
	port.Drive = w.drive
	port.Direct = func() bool { return w.judge.judging }
	if w.real != nil {
		return user.New(host, port, w.wire.Mapper())
	}
	return user.New(host, port, server.Mapper())
}

// Apply creates the objects, or changes those that exist, as kubectl apply does.
func (w *World) Apply(objs ...client.Object) { w.apply(w.user, objs) }

// ApplyFiles applies the objects in files and directories.
func (w *World) ApplyFiles(paths ...string) {
	w.panicIfOver()
	for _, path := range paths {
		objs, err := w.user.Objects(path)
		if err != nil {
			w.misuse("w.ApplyFiles(%q): %v", path, err)
		}
		w.apply(w.user, objs)
	}
}

// ApplyServerSide applies the objects as kubectl apply --server-side --force-conflicts does.
func (w *World) ApplyServerSide(objs ...client.Object) { w.applyServerSide(w.user, objs) }

// Remove deletes the objects.
func (w *World) Remove(objs ...client.Object) { w.remove(w.user, objs) }

// Client is the scenario's client.
func (w *World) Client() client.Client { return w.user }

func (w *World) apply(u *user.Client, objs []client.Object) {
	w.panicIfOver()
	for _, obj := range objs {
		if err := w.insist(func() error { return u.ApplyClientSide(w.ctx, obj) }); err != nil {
			w.misuse("w.Apply of %s: %v%s", u.Describe(obj), err, user.SchemeHint(err))
		}
		u.DeclareApplied(obj)
		u.Remember(obj, false, w.history.Len())
	}
}

func (w *World) applyServerSide(u *user.Client, objs []client.Object) {
	w.panicIfOver()
	for _, obj := range objs {
		if err := w.insist(func() error { return u.ApplyServerSide(w.ctx, obj) }); err != nil {
			w.misuse("w.ApplyServerSide of %s: %v%s", u.Describe(obj), err, user.SchemeHint(err))
		}
		u.Remember(obj, true, w.history.Len())
	}
}

func (w *World) remove(u *user.Client, objs []client.Object) {
	w.panicIfOver()
	for _, obj := range objs {
		err := w.insist(func() error { return client.IgnoreNotFound(u.Delete(w.ctx, obj)) })
		if err != nil {
			w.misuse("w.Remove of %s: %v", u.Describe(obj), err)
		}
		u.Forget(obj)
	}
}

// insistence is how long a write is repeated that a webhook does not answer, and then once more
// without faults.
const insistence = 10 * time.Minute

// insist repeats a write every second while the webhook of an operator is away, as people and
// GitOps tools do. The webhook is away before its process has started, after a crash and under a
// fault. Faults may keep the webhook of a correct operator away for ever, so in the end they stop,
// as in Settle.
func (w *World) insist(write func() error) error {
	limit := w.sched.Now() + insistence
	for recovering := false; ; w.Sleep(time.Second) {
		err := write()
		late := w.sched.Now() > limit
		switch {
		case err == nil || !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), admission.Unanswered):
			return err
		case late && !recovering && w.faults.Armed():
			recovering, limit = true, limit+insistence
			w.beginRecovery()
			defer w.endRecovery()
		case late:
			return fmt.Errorf("it was tried for %v without faults: %w", insistence, err)
		}
	}
}

// ApplyAgain settles, applies once more what was applied last, and settles again.
func (w *World) ApplyAgain() {
	w.panicIfInStep("w.ApplyAgain")
	users := []*user.Client{w.user}
	for _, c := range w.clusters {
		users = append(users, c.user)
	}
	if !slices.ContainsFunc(users, func(u *user.Client) bool { return len(u.Applied()) > 0 }) {
		w.misuse("w.ApplyAgain: nothing was applied before, by w.Apply or w.ApplyServerSide, that was not removed " +
			"since")
	}
	w.faultPhase()
	w.beginRecovery()
	w.settleAndJudge()
	w.note(history.Event{Kind: history.Again, Process: run.User})
	for _, u := range users {
		for _, a := range u.Applied() {
			w.applyOnceMore(u, a)
		}
	}
	w.settleAndJudge()
	w.endRecovery()
}

// applyOnceMore applies an object again if it is still there and the scenario has not changed it.
func (w *World) applyOnceMore(u *user.Client, a user.Applied) {
	if w.editedSince(u, a) {
		return
	}
	live := a.Object.DeepCopyObject().(client.Object)
	err := u.Get(w.ctx, client.ObjectKeyFromObject(a.Object), live)
	switch {
	case apierrors.IsNotFound(err) || err == nil && live.GetDeletionTimestamp() != nil:
	case err != nil:
		w.misuse("w.ApplyAgain of %s: %v", u.Describe(a.Object), err)
	case a.ServerSide:
		w.applyServerSide(u, []client.Object{a.Object})
	default:
		w.apply(u, []client.Object{a.Object})
	}
}

// editedSince reports whether the scenario has changed an object since it was applied.
func (w *World) editedSince(u *user.Client, a user.Applied) bool {
	gvk, err := u.GroupVersionKindFor(a.Object)
	if err != nil {
		return false
	}
	ref := history.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: a.Object.GetNamespace(), Name: a.Object.GetName()}
	if u.Host != wire.APIHost {
		ref.Cluster = u.Host
	}
	about := func(c history.Change) bool { return c.Ref == ref }
	return slices.ContainsFunc(w.history.Events, func(e history.Event) bool {
		return e.Index >= a.Event && e.Process == run.User && slices.ContainsFunc(e.Changes, about)
	})
}
