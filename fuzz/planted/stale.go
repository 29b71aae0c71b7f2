// This file has the bugs of reconcilers that trust a cache that lags behind the server.

package planted

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/fault"
)

func staleBugs() []Bug {
	return []Bug{
		{"waits-for-its-cache", "stale cache after a wait", 2,
			"the child's event lags, and still after the wait for it", "a parent has one child", waitsForCache},
		{"child-created-twice", "double create under lag", 1, "the child's event trails", "a parent has one child",
			childTwice},
		{"expectation-expires", "double create under lag", 1, "the child's event trails for 20 s",
			"a parent has one child", expectationExpires},
		{"reopened-job-deleted", "delete after stale read", 1, "the news of the reopening trail for 5 s",
			"a reopened job is kept", reopenedJob},
		{"port-given-twice", "assumption that a list is complete", 1, "the event of the first port trails",
			"no port is given twice", portTwice},
		{"orphan-behind-finalizer", "finalizer removed too early", 1, "the child's event trails",
			"no child survives its parent", orphanBehindFinalizer},
	}
}

// withSecrets watches the ConfigMaps that are meant for the operator and keeps Secrets in its
// cache.
func withSecrets(b *builder.Builder) *builder.Builder {
	return b.For(&corev1.ConfigMap{}, role("work")).Owns(&corev1.Secret{})
}

// childTwice: one child for each parent, unless the cache knows one. The fixed variant gives it the
// one name it can have.
func childTwice(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		kids, err := children(c, g, o.Name)
		if err != nil || len(kids) > 0 {
			return result{}, err
		}
		kid := generated(o.Name)
		if g.fixed {
			kid.Name = o.Name + "-child"
		}
		return result{}, client.IgnoreAlreadyExists(g.Create(c, kid))
	}}.start(w, "parents", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.ServerError())
	w.Always("a parent has one child", oneChild)
	w.Apply(work("a"))
	patch(w, cm("a"), `{"data":{"k":"2"}}`)
	w.Settle()
}

// expectationExpires: who has created a child waits to see it before it looks again, but not for
// ever. The fixed variant asks the server before it creates one.
func expectationExpires(w *stage, fixed bool) {
	const enough = 20 * time.Second
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		kids, err := children(c, g, o.Name)
		if err != nil || len(kids) > 0 {
			return result{}, err
		}
		created, waiting := g.memory[o.Name].(time.Time)
		if waiting && time.Since(created) < enough {
			return result{RequeueAfter: enough}, nil
		}
		if g.fixed {
			if kids, err = children(c, g.live, o.Name); err != nil || len(kids) > 0 {
				return result{RequeueAfter: enough}, err
			}
		}
		kid := generated(o.Name)
		if err := g.Create(c, kid); err != nil {
			return result{}, err
		}
		g.memory[o.Name] = time.Now()
		return result{RequeueAfter: enough}, nil
	}}.start(w, "parents", fixed)
	w.Inject(fault.StaleCache(time.Minute), fault.RacingRequeue())
	w.Always("a parent has one child", oneChild)
	w.SettleWith(work("a"))
}

// reopenedJob: what has been done for half a minute is cleared away. The fixed variant deletes only
// what it has looked at.
func reopenedJob(w *stage, fixed bool) {
	const keep = 30 * time.Second
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.Data["state"] != "done" {
			return result{}, nil
		}
		if age := time.Since(o.CreationTimestamp.Time); age < keep {
			return result{RequeueAfter: keep - age}, nil
		}
		var pre client.Preconditions
		if g.fixed {
			pre.ResourceVersion = &o.ResourceVersion
		}
		return result{}, client.IgnoreNotFound(g.Delete(c, o, pre))
	}}.start(w, "janitor", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.RacingRequeue(), fault.Crash("janitor"))
	w.Eventually("a reopened job is kept", exists("job"))
	w.Apply(work("job", "state", "done"))
	w.Sleep(25 * time.Second)
	patch(w, cm("job"), `{"data":{"state":"todo"}}`)
	w.Sleep(10 * time.Second)
	w.Settle()
}

// portTwice gives each claim the lowest free port, by a list from the cache.
func portTwice(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		given, err := children(c, g.reader(), "ports")
		if err != nil {
			return result{}, err
		}
		taken := map[string]bool{}
		for _, s := range given {
			if s.Name == "port-of-"+o.Name {
				return result{}, nil
			}
			taken[string(s.Data["port"])] = true
		}
		port := 1
		for taken[strconv.Itoa(port)] {
			port++
		}
		secret := child("port-of-"+o.Name, "ports", "port", strconv.Itoa(port))
		return result{}, client.IgnoreAlreadyExists(g.Create(c, secret))
	}}.start(w, "ports", fixed)
	w.Inject(fault.StaleCache(30*time.Second), fault.LostReply(), fault.Crash("ports"))
	w.Always("no port is given twice", func(h *history.History) error {
		of := map[string]string{}
		for _, s := range history.List[corev1.Secret](h) {
			p := string(s.Data["port"])
			if other, ok := of[p]; ok {
				return fmt.Errorf("%s and %s both have port %s", other, s.Name, p)
			}
			of[p] = s.Name
		}
		return nil
	})
	w.SettleWith(work("a"), work("b"))
}

const finalizer = "bench.example/cleanup"

// orphanBehindFinalizer: a parent that goes takes its children along, those that the cache knows.
func orphanBehindFinalizer(w *stage, fixed bool) {
	operator{each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if o.DeletionTimestamp.IsZero() {
			if controllerutil.AddFinalizer(o, finalizer) {
				return result{}, g.Update(c, o)
			}
			return result{}, client.IgnoreAlreadyExists(g.Create(c, child(o.Name+"-child", o.Name)))
		}
		kids, err := children(c, g.reader(), o.Name)
		if err != nil {
			return result{}, err
		}
		for i := range kids {
			if err := g.Delete(c, &kids[i]); client.IgnoreNotFound(err) != nil {
				return result{}, err
			}
		}
		return result{}, release(g, c, o)
	}, watch: withSecrets}.start(w, "parents", fixed)
	w.Inject(fault.StaleCache(30*time.Second, fault.OfKind("Secret")), fault.Crash("parents"))
	w.Eventually("no child survives its parent", func(h *history.History) error {
		for _, s := range history.List[corev1.Secret](h) {
			if p := s.Labels["parent"]; exists(p)(h) != nil {
				return fmt.Errorf("%s is gone and %s is still there", p, s.Name)
			}
		}
		return nil
	})
	w.Apply(work("a"))
	w.Sleep(time.Second)
	w.Remove(work("a"))
	w.Settle()
}

// release takes the finalizer off.
func release(g *reconciler, c ctx, o *corev1.ConfigMap) error {
	if !controllerutil.ContainsFinalizer(o, finalizer) {
		return nil
	}
	body := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"finalizers":null}}`, o.ResourceVersion)
	return client.IgnoreNotFound(g.Patch(c, o, client.RawPatch(types.MergePatchType, body)))
}

// waitsForCache: a child with a random name is made, and the cache is given 10 s to show it. No lag
// that the scenario names is longer. The fixed variant looks at the server first.
func waitsForCache(w *stage, fixed bool) {
	operator{watch: withSecrets, each: func(g *reconciler, c ctx, o *corev1.ConfigMap) (result, error) {
		if all, err := children(c, g.reader(), o.Name); len(all) > 0 || err != nil {
			return result{}, err
		}
		made := generated(o.Name)
		if err := g.Create(c, made); err != nil {
			return result{}, err
		}
		shown := func(c context.Context) (bool, error) {
			all, err := children(c, g.Client, o.Name)
			return len(all) > 0, err
		}
		return result{}, wait.PollUntilContextTimeout(c, 500*time.Millisecond, 10*time.Second, true, shown)
	}}.start(w, "parents", fixed)
	w.Inject(fault.StaleCache(8*time.Second), fault.Crash("parents"))
	w.Always("a parent has one child", oneChild)
	w.SettleWith(work("a"))
}
