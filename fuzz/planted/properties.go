// This file is how the bench reads a history: small questions that many of its properties ask.

package planted

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
)

// property is what [sim.World.Always] and [sim.World.Eventually] take.
type property = func(*history.History) error

// data is the data of a ConfigMap; nil when there is none.
func data(h *history.History, name string) map[string]string {
	o, ok := h.Object("", "ConfigMap", ns, name)
	if !ok {
		return nil
	}
	var c corev1.ConfigMap
	if o.Into(&c) != nil {
		return nil
	}
	return c.Data
}

// secrets are all Secrets of the world.
func secrets(h *history.History) []corev1.Secret {
	var out []corev1.Secret
	for _, o := range h.Objects("", "Secret") {
		var s corev1.Secret
		if o.Into(&s) == nil {
			out = append(out, s)
		}
	}
	return out
}

// atMostOnce holds while no key has had an effect of the kind twice.
func atMostOnce(kind string) property {
	return func(h *history.History) error {
		seen := map[string]int{}
		for i, e := range h.Effects(kind) {
			if j, ok := seen[e.Key]; ok {
				return fmt.Errorf("%s %s happened as effect %d and again as effect %d", kind, e.Key, j+1, i+1)
			}
			seen[e.Key] = i
		}
		return nil
	}
}

// happened holds when each of the keys has had an effect of the kind.
func happened(kind string, keys ...string) property {
	return func(h *history.History) error {
		for _, k := range keys {
			if !has(h, kind, k) {
				return fmt.Errorf("there was no %s %s", kind, k)
			}
		}
		return nil
	}
}

func has(h *history.History, kind, k string) bool {
	for _, e := range h.Effects(kind) {
		if e.Key == k {
			return true
		}
	}
	return false
}

// holds is true when a ConfigMap's data has the value.
func holds(name, k, v string) property {
	return func(h *history.History) error {
		if got := data(h, name)[k]; got != v {
			return fmt.Errorf("ConfigMap %s has %s=%q instead of %q", name, k, got, v)
		}
		return nil
	}
}

// exists holds when the ConfigMap is there, gone when it is not.
func exists(name string) property {
	return func(h *history.History) error {
		if _, ok := h.Object("", "ConfigMap", ns, name); !ok {
			return fmt.Errorf("ConfigMap %s is gone", name)
		}
		return nil
	}
}

func gone(name string) property {
	return func(h *history.History) error {
		if exists(name)(h) == nil {
			return fmt.Errorf("ConfigMap %s is still there", name)
		}
		return nil
	}
}

// oneChild holds while no parent has two children.
func oneChild(h *history.History) error {
	of := map[string]string{}
	for _, s := range secrets(h) {
		p := s.Labels["parent"]
		if p == "" {
			continue
		}
		if other, ok := of[p]; ok {
			return fmt.Errorf("%s has the children %s and %s", p, other, s.Name)
		}
		of[p] = s.Name
	}
	return nil
}

// noPanic holds while no reconcile has panicked.
func noPanic(h *history.History) error {
	if n := len(h.Events); n > 0 {
		// Judged after every step, so it is enough to look back at what that step led to.
		for i := n - 1; i >= 0 && h.Events[i].Step >= h.Events[n-1].Step-1; i-- {
			if e := &h.Events[i]; e.Kind == history.Done && e.Outcome.Kind == history.OutcomePanic {
				return fmt.Errorf("%s: %s", e.Reconcile, e.Outcome)
			}
		}
	}
	return nil
}

// othersStay holds while what another writer has put on the object is still there.
func othersStay(name string) property {
	const mark = "wavetank.example/touched"
	return func(h *history.History) error {
		want := ""
		for i := range h.Events {
			for _, c := range h.Events[i].Changes {
				if c.Ref.Name != name || c.Ref.Kind != "ConfigMap" {
					continue
				}
				var o corev1.ConfigMap
				if (history.Object{JSON: c.Object}).Into(&o) != nil {
					continue
				}
				if h.Events[i].Process == "another writer" {
					want = o.Annotations[mark]
				} else if got := o.Annotations[mark]; got != want {
					return fmt.Errorf("%s wrote %q over another writer's %q", h.Events[i].Actor(), got, want)
				}
			}
		}
		return nil
	}
}
