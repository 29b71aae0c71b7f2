package registry

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

var nodeKind = builtin{
	group: "", version: "v1", kind: "Node", plural: "nodes",
	short: []string{"no"}, cluster: true,
	object:   func() runtime.Object { return &corev1.Node{} },
	strategy: nodeStrategy,
	fields:   nodeFields,
}

// nodeStrategy follows pkg/registry/core/node and the TaintNodesByCondition admission plugin.
var nodeStrategy = strategy{
	Unconditional: true, status: true, Unmodelled: []string{"proxy"},
	prepareCreate: func(_ Write, o runtime.Object) {
		n := o.(*corev1.Node)
		for _, taint := range n.Spec.Taints {
			if taint.Key == corev1.TaintNodeNotReady && taint.Effect == corev1.TaintEffectNoSchedule {
				return
			}
		}
		n.Spec.Taints = append(n.Spec.Taints,
			corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
	},
}

var nodeFields = map[string]func(*object.Object) string{
	"spec.unschedulable": selects(func(n *corev1.Node) string { return strconv.FormatBool(n.Spec.Unschedulable) }),
}
