package workload

import (
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/wavetank/wavetank/models/actor"
)

// told is an Event that a controller has recorded.
type told struct {
	about                 types.UID
	kind, reason, message string
}

// tale is where it is, and how often it has been recorded.
type tale struct {
	name  string
	count int32
}

// tell records an Event about an object, as client-go's recorder does in the end: one that says
// what an earlier one did only increases that one's count (tools/record/events_cache.go). It is no
// change that the controller looks again for, and one that cannot be recorded is lost. Similar ones
// are not combined, and there is no limit to their number.
func (c *controller) tell(about metav1.Object, ref corev1.ObjectReference, kind, reason, format string, args ...any) {
	what := told{about.GetUID(), kind, reason, fmt.Sprintf(format, args...)}
	namespace := about.GetNamespace()
	if last, ok := c.tales[what]; ok {
		last.count++
		patch := map[string]any{"count": last.count, "lastTimestamp": metav1.NewTime(c.Clock())}
		if actor.Do(c.Cluster, http.MethodPatch, actor.Path("", "v1", namespace, "events", last.name), patch,
			nil) == nil {
			c.tales[what] = last
			return
		}
	}
	ref.Namespace, ref.Name, ref.UID, ref.ResourceVersion = namespace, about.GetName(), about.GetUID(),
		about.GetResourceVersion()
	if name, err := actor.Record(c.Cluster, c.component, ref, kind, reason, what.message); err == nil {
		c.tales[what] = tale{name, 1}
	}
}
