// This file holds the bugs of those who come too late for a deletion, or clean up in the wrong
// order.

package planted

import (
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func deletionBugs() []Bug {
	return []Bug{
		{"deleted-while-down", "missed deletion", 1, "a crash before the deletion", "no account is left behind",
			whileDown},
		{"finalizer-before-cleanup", "finalizer removed too early", 1, "a crash between the two",
			"no account is left behind", finalizerFirst},
		{"record-of-a-namesake", "owner by name instead of UID", 1,
			"the deletion between two of the same name is missed", "the record is the owner's", namesake},
		{"namesake-robbed", "deletion decided on an older state", 2,
			"a restart, and a server that is behind for owners only", "an owner that lives keeps its secret",
			robbed},
	}
}

// closed holds when every account that was opened has been closed, once the owner is gone.
func closed(h *history.History) error {
	if exists("a")(h) == nil || len(h.Effects("open")) == len(h.Effects("close")) {
		return nil
	}
	return fmt.Errorf("a is gone and its account is still open")
}

// whileDown closes an account when it observes the deletion of its owner. The fixed variant adds a
// finalizer, so it observes each deletion.
func whileDown(w *stage, fixed bool) {
	outside(w)
	operator{work: func(g *reconciler, c ctx, req request) (result, error) {
		o, err := g.get(c, req)
		switch {
		case err != nil:
			return result{}, err
		case o == nil || !o.DeletionTimestamp.IsZero():
			if err := g.closes(c, req.Name); err != nil || o == nil {
				return result{}, err
			}
			return result{}, release(g, c, o)
		case g.fixed && controllerutil.AddFinalizer(o, finalizer):
			return result{}, g.Update(c, o)
		}
		return result{}, g.call(c, "PUT", "/accounts/"+req.Name, "")
	}}.start(w, "accounts", fixed)
	w.Inject(fault.Crash("accounts"), fault.LostReply())
	w.Eventually("no account is left behind", closed)
	w.Apply(work("a"))
	w.Sleep(time.Second)
	w.Remove(work("a"))
	w.Settle()
}

// finalizerFirst: off with the finalizer, then the rest. The fixed variant does the rest first.
func finalizerFirst(w *stage, fixed bool) {
	outside(w)
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.DeletionTimestamp.IsZero() {
			return result{}, g.call(c, "PUT", "/accounts/"+o.Name, "")
		}
		return g.inOrder(func() error { return release(g, c, o) }, func() error { return g.closes(c, o.Name) })
	}}.start(w, "accounts", fixed)
	w.Inject(fault.Crash("accounts"), fault.StaleCache(10*time.Second))
	w.Eventually("no account is left behind", closed)
	a := work("a")
	a.Finalizers = []string{finalizer}
	w.SettleWith(a)
	w.Remove(work("a"))
	w.Settle()
}

// namesake: a record is kept under its owner's name. Whose it is stands in it. The fixed variant
// reads that, and also names the owner by UID, so that the record goes with it.
func namesake(w *stage, fixed bool) {
	operator{work: func(g *reconciler, c ctx, req request) (result, error) {
		var record corev1.Secret
		err := g.live.Get(c, key("record-"+req.Name), &record)
		if client.IgnoreNotFound(err) != nil {
			return result{}, err
		}
		there := err == nil
		o, err := g.get(c, req)
		switch {
		case err != nil:
			return result{}, err
		case o == nil && there:
			return result{}, client.IgnoreNotFound(g.Delete(c, &record))
		case o == nil || there && (!g.fixed || string(record.Data["owner"]) == string(o.UID)):
			return result{}, nil
		case there:
			record.Data["owner"] = []byte(o.UID)
			record.OwnerReferences = nil
			return result{}, errors.Join(g.own(o, &record), g.Update(c, &record))
		}
		record = *secret("record-"+o.Name, "owner", string(o.UID))
		err = errors.Join(g.own(o, &record), g.Create(c, &record))
		if apierrors.IsAlreadyExists(err) {
			return result{Requeue: true}, nil
		}
		return result{}, err
	}}.start(w, "records", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.ServerError(), fault.RacingRequeue())
	w.Eventually("the record is the owner's", func(h *history.History) error {
		o, _ := h.Object("", "ConfigMap", ns, "a")
		owned := func(s corev1.Secret) bool { return string(s.Data["owner"]) == o.UID }
		if slices.ContainsFunc(history.List[corev1.Secret](h), owned) {
			return nil
		}
		return errors.New("the record belongs to a namesake that is gone, or there is none")
	})
	w.Apply(work("a"))
	w.Sleep(time.Second)
	w.Remove(work("a"))
	w.Sleep(10 * time.Millisecond)
	w.SettleWith(work("a"))
}

// own makes the fixed variant name the owner of a secret.
func (r *reconciler) own(owner *corev1.ConfigMap, s *corev1.Secret) error {
	if !r.fixed {
		return nil
	}
	return controllerutil.SetControllerReference(owner, s, r.Scheme())
}

// robbed: an owner's secret is deleted with the owner, by name. After a restart the cache may show
// an owner as it was before it was made again, and the secret that is there by now. The fixed
// variant asks whose secret it is.
func robbed(w *stage, fixed bool) {
	owns := func(b *builder.Builder) *builder.Builder {
		return b.For(&corev1.ConfigMap{}, role("work")).Owns(&corev1.Secret{})
	}
	operator{watch: owns, lists: true, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.DeletionTimestamp.IsZero() {
			if controllerutil.AddFinalizer(o, finalizer) {
				return result{}, g.Update(c, o)
			}
			return result{}, client.IgnoreAlreadyExists(g.Create(c, secret(o.Name, "owner", string(o.UID))))
		}
		var s corev1.Secret
		switch err := g.Get(c, key(o.Name), &s); {
		case client.IgnoreNotFound(err) != nil:
			return result{}, err
		case err == nil && (!g.fixed || string(s.Data["owner"]) == string(o.UID)):
			// A secret that is not the one in the cache any more is left alone by both variants.
			err = client.IgnoreNotFound(g.Delete(c, &s, client.Preconditions{UID: &s.UID}))
			if err != nil {
				return result{}, err
			}
		}
		return result{}, release(g, c, o)
	}}.start(w, "owners", fixed)
	w.Inject(fault.StaleServer(time.Minute), fault.Restart("owners"))
	w.Always("an owner that lives keeps its secret", kept)
	w.Apply(work("a"))
	w.Sleep(time.Second)
	w.Remove(work("a"))
	for range 100 {
		if exists("a")(w.History()) != nil {
			break
		}
		w.Sleep(time.Second)
	}
	w.SettleWith(work("a"))
}

// kept holds unless the latest event is the deletion of a secret whose owner is there to stay.
func kept(h *history.History) error {
	if h.Len() == 0 {
		return nil
	}
	for _, c := range h.Since(h.Len() - 1)[0].Changes {
		var s corev1.Secret
		if c.Ref.Kind != "Secret" || c.Type != "DELETED" || (history.Object{JSON: c.Object}).Into(&s) != nil {
			continue
		}
		owner, there := history.Get[corev1.ConfigMap](h, ns, s.Name)
		if there && owner.DeletionTimestamp.IsZero() && string(s.Data["owner"]) == string(owner.UID) {
			return fmt.Errorf("the secret of %s is deleted", s.Name)
		}
	}
	return nil
}
