// This file holds the bugs of those who believe that what they see belongs together: events of two
// kinds, or a status and its spec, or an object and its copy.

package planted

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

func inversionBugs() []Bug {
	return []Bug{
		{"owner-not-seen-yet", "cross-kind inversion", 1, "the owner's event comes after its child's",
			"a child lives as long as its owner", ownerNotSeen},
		{"release-with-old-login", "cross-kind inversion", 1, "the login's event comes after the release's",
			"a release runs with its own login", oldLogin},
		{"panic-on-cache-miss", "panic on nil after a cache miss", 1, "the settings' event comes after the work's",
			property.DefaultNoPanic, panicOnMiss},
		{"ready-for-the-last-colour", "generation vs status observed", 2,
			"a worker is late and a waiter is handed out once more in between",
			"nothing is announced before it is ready", lastColour},
		{"colour-there-and-back", "ABA", 1, "the colour in between is missed", "the newest generation is announced",
			thereAndBack},
		{"cached-object-mutated", "cached object mutated", 1, "the write after the mutation fails", "the work is done",
			mutated},
	}
}

// ownerNotSeen: a child without an owner is litter.
func ownerNotSeen(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		err := g.reader().Get(c, key(o.Data["owner"]), &corev1.Secret{})
		if client.IgnoreNotFound(err) != nil || err == nil {
			return result{}, err
		}
		return result{}, client.IgnoreNotFound(g.Delete(c, o))
	}, watch: withSecrets}.start(w, "collector", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.RacingRequeue(), fault.Crash("collector"))
	w.Eventually("a child lives as long as its owner", exists("child"))
	w.SettleWith(secret("owner"), work("child", "owner", "owner"))
}

// oldLogin: a release is deployed with the login that the cache knows.
func oldLogin(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		var login corev1.Secret
		if err := g.Get(c, key("login"), &login); err != nil {
			return result{}, err
		}
		if g.fixed && string(login.Data["v"]) != o.Data["v"] {
			return result{}, errors.New("the login is of another version")
		}
		deployed := o.Data["v"] + "-with-" + string(login.Data["v"])
		return result{}, g.call(c, "POST", "/deploy/"+deployed, deployed)
	}}.start(w, "deployer", fixed)
	outside(w)
	w.Inject(fault.StaleCache(30*time.Second), fault.RacingRequeue(), fault.FailedEffect())
	w.Always("a release runs with its own login", func(h *history.History) error {
		for _, e := range h.Effects("deploy") {
			if r, l, _ := strings.Cut(e.Key, "-with-"); r != l {
				return fmt.Errorf("deployed %s", e.Key)
			}
		}
		return nil
	})
	w.SettleWith(secret("login", "v", "1"), work("release", "v", "1"))
	w.Apply(secret("login", "v", "2"))
	w.Sleep(time.Second)
	w.SettleWith(work("release", "v", "2"))
}

// panicOnMiss: what the cache does not know is a nil, and a nil is read from.
func panicOnMiss(w *stage, fixed bool) {
	operator{until: "done", each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		var all corev1.SecretList
		if err := g.List(c, &all, client.InNamespace(ns)); err != nil {
			return result{}, err
		}
		var settings *corev1.Secret
		for i := range all.Items {
			settings = &all.Items[i]
		}
		if g.fixed && settings == nil {
			return result{}, errors.New("the settings are not there yet")
		}
		return result{}, g.set(c, o, "done", string(settings.Data["value"]))
	}, watch: withSecrets}.start(w, "worker", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.ServerError())
	w.SettleWith(secret("settings", "value", "7"), work("a"))
}

// forTasks watches Tasks; statusOnly wakes only when a status has changed.
func forTasks(b *builder.Builder) *builder.Builder { return b.For(&Task{}) }

func statusOnly(b *builder.Builder) *builder.Builder {
	return b.For(&Task{}, builder.WithPredicates(predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return true },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return true },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld.(*Task).Status != e.ObjectNew.(*Task).Status
		},
	}))
}

// lastColour: a painter reports that a task is ready, an announcer believes it, whichever colour it
// was about.
func lastColour(w *stage, fixed bool) {
	w.Install("testdata/tasks.yaml")
	outside(w)
	operator{watch: forTasks, work: func(g *reconciler, c ctx, req request) (result, error) {
		var t Task
		if err := g.Get(c, req.NamespacedName, &t); err != nil {
			return result{}, client.IgnoreNotFound(err)
		}
		want := TaskStatus{Colour: t.Spec.Colour, Ready: true, ObservedGeneration: t.Generation}
		if t.Status == want {
			return result{}, nil
		}
		t.Status = want
		return result{}, g.Status().Update(c, &t)
	}}.start(w, "painter", true)
	operator{watch: statusOnly, work: func(g *reconciler, c ctx, req request) (result, error) {
		var t Task
		if err := g.Get(c, req.NamespacedName, &t); err != nil {
			return result{}, client.IgnoreNotFound(err)
		}
		if !t.Status.Ready || g.fixed && t.Status.ObservedGeneration != t.Generation {
			return result{}, nil
		}
		return result{}, g.call(c, "POST", "/announce/"+t.Spec.Colour, "colour "+t.Spec.Colour)
	}}.start(w, "announcer", fixed)
	w.Inject(fault.StaleCache(30*time.Second, fault.In("painter")), fault.RacingRequeue(fault.In("announcer")))
	w.Always("nothing is announced before it is ready", func(h *history.History) error {
		painted := map[string]bool{}
		for i := range h.Events {
			for _, ch := range h.Events[i].Changes {
				var t Task
				if (history.Object{JSON: ch.Object}).Into(&t) == nil {
					painted[t.Status.Colour] = true
				}
			}
		}
		for _, e := range h.Effects("announce") {
			if !painted[e.Key] {
				return fmt.Errorf("%s was announced and never painted", e.Key)
			}
		}
		return nil
	})
	w.Apply(task("door", "red"))
	w.Sleep(time.Second)
	patch(w, task("door", ""), `{"spec":{"colour":"blue"}}`)
	w.Settle()
}

// thereAndBack: an order is new when the colour is another. The fixed variant asks for the
// generation.
func thereAndBack(w *stage, fixed bool) {
	w.Install("testdata/tasks.yaml")
	outside(w)
	operator{watch: forTasks, work: func(g *reconciler, c ctx, req request) (result, error) {
		var t Task
		if err := g.Get(c, req.NamespacedName, &t); err != nil {
			return result{}, client.IgnoreNotFound(err)
		}
		if !g.fixed && t.Status.Colour == t.Spec.Colour || t.Status.ObservedGeneration == t.Generation {
			return result{}, nil
		}
		order := fmt.Sprintf("generation-%d", t.Generation)
		if err := g.call(c, "POST", "/paint/"+order, order); err != nil {
			return result{}, err
		}
		t.Status = TaskStatus{Colour: t.Spec.Colour, ObservedGeneration: t.Generation}
		return result{}, g.Status().Update(c, &t)
	}}.start(w, "painter", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.ServerError(), fault.SlowEffect(10*time.Second))
	w.Eventually("the newest generation is announced", happened("paint", "generation-3"))
	w.Apply(task("door", "red"))
	w.Sleep(20 * time.Millisecond)
	patch(w, task("door", ""), `{"spec":{"colour":"blue"}}`)
	w.Sleep(20 * time.Millisecond)
	patch(w, task("door", ""), `{"spec":{"colour":"red"}}`)
	w.Settle()
}

// mutated: reads come straight from the cache, without a copy, and are written to.
func mutated(w *stage, fixed bool) {
	w.Without("cache untouched") // what is measured is the search for the consequence
	shared := true
	operator{options: ctrl.Options{Cache: cache.Options{DefaultUnsafeDisableDeepCopy: &shared}},
		each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
			if o.Labels["done"] != "" {
				return result{}, nil
			}
			if g.fixed {
				o = o.DeepCopy()
			}
			o.Labels["done"] = "yes"
			return result{}, g.Update(c, o)
		}}.start(w, "worker", fixed)
	w.Inject(fault.ServerError(), fault.RacingRequeue())
	w.Eventually("the work is done", func(h *history.History) error {
		if a, _ := history.Get[corev1.ConfigMap](h, ns, "a"); a.Labels["done"] == "" {
			return fmt.Errorf("a has the labels %v", a.Labels)
		}
		return nil
	})
	w.SettleWith(work("a"))
}
