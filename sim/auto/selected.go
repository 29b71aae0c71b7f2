package auto

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/wavetank/wavetank/history"
)

// This file is for what programs find by labels: a program that lists Nodes or Secrets does not
// fail if there is none, so no request shows that it found nothing.

// selectable are the built-in kinds of which users create an object if a program watches the kind
// and a selector asks for it.
var selectable = []history.Ref{{Kind: "Node", Name: "sample"}, {Kind: "Namespace", Name: "sample"},
	{Kind: "Secret", Namespace: "default", Name: "sample"}, {Kind: "ConfigMap", Namespace: "default", Name: "sample"}}

// provideSelected creates an object of each kind that a program watches, with the labels that
// users' objects select, unless there is one. A Node is created even if nothing selects it.
func (p *provider) provideSelected(hurried bool) {
	created := false
	for _, ref := range selectable {
		wanted := p.selected(ref.Kind)
		if len(wanted) == 0 && ref.Kind != "Node" || !watched(p.world.History(), ref.Group, ref.Kind) ||
			exists(p.world.History(), ref, wanted) {
			continue
		}
		said, _ := p.provideAt(ref, 0)
		p.world.Drew("begin", strings.Replace(said, "a program looked for", "a program watches", 1))
		created = true
	}
	if created && !hurried {
		p.world.Settle()
	}
}

// exists reports whether an object of a kind has all of some labels.
func exists(h *history.History, kind history.Ref, wanted map[string]string) bool {
	all := h.Live(func(r history.Ref) bool {
		return r.Cluster == "" && r.Group == kind.Group && r.Kind == kind.Kind
	})
	return slices.ContainsFunc(all, func(o history.Object) bool {
		return labels.SelectorFromSet(wanted).Matches(labels.Set(labelsOf(o)))
	})
}

// labelsOf are the labels of an object.
func labelsOf(o history.Object) map[string]string {
	var m struct {
		Metadata struct{ Labels map[string]string }
	}
	_ = o.Into(&m) // what is no object has no labels
	return m.Metadata.Labels
}

// selected are the labels that selectors in users' objects ask of a kind: a field like nodeSelector
// is about Nodes, and selector about any kind.
func (p *provider) selected(kind string) map[string]string {
	out := map[string]string{}
	for _, s := range *p.subjects {
		walk(s.object().Object, func(key string, v any) {
			of, is := strings.CutSuffix(strings.ToLower(key), "selector")
			if !is || of != "" && of != "label" && of != strings.ToLower(kind) {
				return
			}
			switch v := v.(type) {
			case string:
				set, err := labels.ConvertSelectorToLabelsMap(v)
				if err == nil {
					maps.Copy(out, set)
				}
			case map[string]any:
				if match, ok := v["matchLabels"].(map[string]any); ok {
					v = match
				}
				for k, x := range v {
					if text, ok := x.(string); ok {
						out[k] = text
					}
				}
			}
		})
	}
	return out
}
