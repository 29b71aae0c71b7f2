// This file is how the bench reads a history: small questions that many of its properties ask.

package planted

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/property"
)

// data is the data of a ConfigMap; nil when there is none.
func data(h *history.History, name string) map[string]string {
	c, _ := history.Get[corev1.ConfigMap](h, ns, name)
	return c.Data
}

// happened holds when each of the keys has had an effect of the kind.
func happened(kind string, keys ...string) property.Property {
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
	return slices.ContainsFunc(h.Effects(kind), func(e history.Effect) bool { return e.Key == k })
}

// holds is true when a ConfigMap's data has the value.
func holds(name, k, v string) property.Property {
	return func(h *history.History) error {
		if got := data(h, name)[k]; got != v {
			return fmt.Errorf("ConfigMap %s has %s=%q instead of %q", name, k, got, v)
		}
		return nil
	}
}

// exists holds when the ConfigMap is there.
func exists(name string) property.Property {
	return func(h *history.History) error {
		if _, ok := h.Object("", "ConfigMap", ns, name); !ok {
			return fmt.Errorf("ConfigMap %s is gone", name)
		}
		return nil
	}
}

// oneChild holds while no parent has two children.
func oneChild(h *history.History) error {
	of := map[string]string{}
	for _, s := range history.List[corev1.Secret](h) {
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

// othersStay holds while what another writer has put on the object is still there.
func othersStay(name string) property.Property {
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
