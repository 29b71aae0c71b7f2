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

// actions are what users do to the clusters of a world.
type actions struct {
	*settler
	user  *user.User
	users []*user.User // of each cluster; the first is user
}

// newUser makes the scenario's client of a cluster. The world continues until a request is
// answered. While a property is judged, the client reads the state of the server at once.
func (a *actions) newUser(host string, server *apiserver.Server) *user.User {
	port := a.wire.NewPort(run.User, 0)
	port.User, port.Groups = "admin", []string{"system:masters", "system:authenticated"}
	port.Drive = a.drive
	port.Direct = func() bool { return a.judge.judging }
	mapper := server.Mapper()
	if a.real != nil {
		mapper = a.wire.Mapper()
	}
	u := user.New(host, port, mapper)
	a.users = append(a.users, u)
	return u
}

// Apply creates the objects, or changes those that exist, as kubectl apply does.
func (a *actions) Apply(objs ...client.Object) { a.apply(a.user, objs) }

// ApplyFiles applies the objects in files and directories.
func (a *actions) ApplyFiles(paths ...string) {
	a.panicIfOver()
	for _, path := range paths {
		objs, err := a.user.Objects(path)
		if err != nil {
			a.misuse("w.ApplyFiles(%q): %v", path, err)
		}
		a.apply(a.user, objs)
	}
}

// ApplyServerSide applies the objects as kubectl apply --server-side --force-conflicts does.
func (a *actions) ApplyServerSide(objs ...client.Object) { a.applyServerSide(a.user, objs) }

// Remove deletes the objects.
func (a *actions) Remove(objs ...client.Object) { a.remove(a.user, objs) }

// Client is the scenario's client.
func (a *actions) Client() client.Client { return a.user }

func (a *actions) apply(u *user.User, objs []client.Object) {
	a.panicIfOver()
	for _, obj := range objs {
		if err := a.insist(func() error { return u.ApplyClientSide(a.ctx, obj) }); err != nil {
			a.misuse("w.Apply of %s: %v%s", u.Describe(obj), err, user.SchemeHint(err))
		}
		u.DeclareApplied(obj)
		u.Remember(obj, false, a.history.Len())
	}
}

func (a *actions) applyServerSide(u *user.User, objs []client.Object) {
	a.panicIfOver()
	for _, obj := range objs {
		if err := a.insist(func() error { return u.ApplyServerSide(a.ctx, obj) }); err != nil {
			a.misuse("w.ApplyServerSide of %s: %v%s", u.Describe(obj), err, user.SchemeHint(err))
		}
		u.Remember(obj, true, a.history.Len())
	}
}

func (a *actions) remove(u *user.User, objs []client.Object) {
	a.panicIfOver()
	for _, obj := range objs {
		err := a.insist(func() error { return client.IgnoreNotFound(u.Delete(a.ctx, obj)) })
		if err != nil {
			a.misuse("w.Remove of %s: %v", u.Describe(obj), err)
		}
		u.Forget(obj)
	}
}

// insistence is how long a write is repeated that a webhook does not answer, and then once more
// without faults.
const insistence = 10 * time.Minute

// insist repeats a write every second while the webhook of an operator is away, as people and
// GitOps tools do. The webhook is away before its process has started, after a crash and under a
// fault. Faults could always keep the webhook of a correct operator away, so in the end they stop,
// as in Settle.
func (a *actions) insist(write func() error) error {
	limit := a.sched.Now() + insistence
	for recovering := false; ; a.Sleep(time.Second) {
		err := write()
		late := a.sched.Now() > limit
		switch {
		case err == nil || !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), admission.Unanswered):
			return err
		case late && !recovering && a.faults.declared.Armed():
			recovering, limit = true, limit+insistence
			a.beginRecovery()
			defer a.endRecovery()
		case late:
			return fmt.Errorf("it was tried for %v without faults: %w", insistence, err)
		}
	}
}

// ApplyAgain settles, applies once more what was applied last, and settles again.
func (a *actions) ApplyAgain() {
	a.panicIfInStep("w.ApplyAgain")
	if !slices.ContainsFunc(a.users, func(u *user.User) bool { return len(u.Applied()) > 0 }) {
		a.misuse("w.ApplyAgain: nothing was applied before, by w.Apply or w.ApplyServerSide, that was not removed " +
			"since")
	}
	a.faultPhase()
	a.beginRecovery()
	a.settleAndJudge()
	a.note(history.Event{Kind: history.Again, Process: run.User})
	for _, u := range a.users {
		for _, applied := range u.Applied() {
			a.applyOnceMore(u, applied)
		}
	}
	a.settleAndJudge()
	a.endRecovery()
}

// applyOnceMore applies an object again if it is still there and the scenario has not changed it.
func (a *actions) applyOnceMore(u *user.User, last user.Applied) {
	if a.editedSince(u, last) {
		return
	}
	live := last.Object.DeepCopyObject().(client.Object)
	err := u.Get(a.ctx, client.ObjectKeyFromObject(last.Object), live)
	switch {
	case apierrors.IsNotFound(err) || err == nil && live.GetDeletionTimestamp() != nil:
	case err != nil:
		a.misuse("w.ApplyAgain of %s: %v", u.Describe(last.Object), err)
	case last.ServerSide:
		a.applyServerSide(u, []client.Object{last.Object})
	default:
		a.apply(u, []client.Object{last.Object})
	}
}

// editedSince reports whether the scenario has changed an object since it was applied.
func (a *actions) editedSince(u *user.User, last user.Applied) bool {
	gvk, err := u.GroupVersionKindFor(last.Object)
	if err != nil {
		return false
	}
	ref := history.Ref{Group: gvk.Group, Kind: gvk.Kind, Namespace: last.Object.GetNamespace(),
		Name: last.Object.GetName()}
	if u.Host != wire.APIHost {
		ref.Cluster = u.Host
	}
	about := func(c history.Change) bool { return c.Ref == ref }
	return slices.ContainsFunc(a.history.Events, func(e history.Event) bool {
		return e.Index >= last.Event && e.Process == run.User && slices.ContainsFunc(e.Changes, about)
	})
}
