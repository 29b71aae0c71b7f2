package namespace

import (
	"fmt"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
)

// findings are what a pass has to say.
type findings struct {
	discovery string   // why not every type could be found
	content   []string // why types could not be deleted
	remaining []string // what is left, by type
	held      map[string]int
	complete  bool // every type was visited; otherwise the remaining objects are not reported
}

// note counts the remaining objects of a type and reports whether a finalizer holds any of them.
func (f *findings) note(r actor.Resource, items []item) (held bool) {
	if len(items) == 0 {
		return false
	}
	f.remaining = append(f.remaining, fmt.Sprintf("%s.%s has %d resource instances", r.Name, r.Group, len(items)))
	for _, i := range items {
		for _, finalizer := range i.Metadata.Finalizers {
			if f.held == nil {
				f.held = map[string]int{}
			}
			f.held[finalizer]++
			held = true
		}
	}
	return held
}

// verdict is a condition with its texts (status_condition_utils.go). They are part of what users
// read and match.
type verdict struct {
	kind                  corev1.NamespaceConditionType
	okReason, okMessage   string
	badReason, badMessage string // no message: the condition is false
}

func (f *findings) verdicts() []verdict {
	var content, remaining, held string
	if len(f.content) > 0 {
		content = fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(f.content),
			sorted(f.content))
	}
	if f.complete && len(f.remaining) > 0 {
		remaining = "Some resources are remaining: " + sorted(f.remaining)
	}
	if f.complete && len(f.held) > 0 {
		var by []string
		for finalizer, n := range f.held {
			by = append(by, fmt.Sprintf("%s in %d resource instances", finalizer, n))
		}
		held = "Some content in the namespace has finalizers remaining: " + sorted(by)
	}
	return []verdict{
		{corev1.NamespaceDeletionDiscoveryFailure, "ResourcesDiscovered", "All resources successfully discovered",
			"DiscoveryFailed", f.discovery},
		{corev1.NamespaceDeletionGVParsingFailure, "ParsedGroupVersions", "All legacy kube types successfully parsed",
			"GroupVersionParsingFailed", ""},
		{corev1.NamespaceDeletionContentFailure, "ContentDeleted",
			"All content successfully deleted, may be waiting on finalization",
			"ContentDeletionFailed", content},
		{corev1.NamespaceContentRemaining, "ContentRemoved", "All content successfully removed",
			"SomeResourcesRemain", remaining},
		{corev1.NamespaceFinalizersRemaining, "ContentHasNoFinalizers", "All content-preserving finalizers finished",
			"SomeFinalizersRemain", held},
	}
}

func sorted(parts []string) string {
	sort.Strings(parts)
	return strings.Join(parts, ", ")
}

// update brings the conditions up to date and reports whether that changed any.
func (f *findings) update(status *corev1.NamespaceStatus, now metav1.Time) (changed bool) {
	for _, v := range f.verdicts() {
		next := corev1.NamespaceCondition{
			Type: v.kind, Status: corev1.ConditionFalse, LastTransitionTime: now, Reason: v.okReason,
			Message: v.okMessage,
		}
		if v.badMessage != "" {
			next.Status, next.Reason, next.Message = corev1.ConditionTrue, v.badReason, v.badMessage
		}
		changed = set(status, next) || changed
	}
	return changed
}

func set(status *corev1.NamespaceStatus, next corev1.NamespaceCondition) bool {
	for i := range status.Conditions {
		old := &status.Conditions[i]
		if old.Type != next.Type {
			continue
		}
		if old.Status == next.Status {
			next.LastTransitionTime = old.LastTransitionTime
		}
		changed := old.Status != next.Status || old.Reason != next.Reason || old.Message != next.Message
		*old = next
		return changed
	}
	status.Conditions = append(status.Conditions, next)
	return true
}
