package property_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/internal/simtest"
	"github.com/wavetank/wavetank/sim/property"
)

// deletesByName deletes the Secret that it saw first when a ConfigMap asks for it. Meanwhile the
// Secret was deleted and created again. The correct variant names the UID that it saw, and reads
// again if that is refused.
func deletesByName(w *sim.World, flawed bool) {
	w.Always("DeletesWhatItRead", property.DeletesWhatItRead())
	key := &corev1.Secret{ObjectMeta: named("key")}
	var seen types.UID
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		var s corev1.Secret
		if seen == "" {
			err := o.live.Get(c, client.ObjectKeyFromObject(key), &s)
			seen = s.UID
			return result{}, err
		}
		if cm.Data["drop"] == "" {
			return result{}, nil
		}
		s.ObjectMeta = named("key")
		if flawed {
			return result{}, client.IgnoreNotFound(o.Delete(c, &s))
		}
		if err := o.Delete(c, &s, client.Preconditions{UID: &seen}); !apierrors.IsConflict(err) {
			return result{}, client.IgnoreNotFound(err)
		}
		if err := o.live.Get(c, client.ObjectKeyFromObject(key), &s); err != nil {
			return result{}, client.IgnoreNotFound(err)
		}
		return result{}, client.IgnoreNotFound(o.Delete(c, &s))
	}, nil)
	w.Apply(key.DeepCopy(), work("a"))
	w.Settle()
	w.Remove(key.DeepCopy())
	w.Apply(key.DeepCopy())
	edit(w, "drop", "yes")
	w.Settle()
}

// The message names the object, what the process knew, and what to do.
func TestADeleteByNameIsToldWithBothUIDs(t *testing.T) {
	f := tried(t, scene{play: deletesByName}, true)
	if f == nil {
		t.Fatal("the delete by name passes")
	}
	for _, want := range []string{"operator/1 delete Secret default/key", `in reconcile "work default/a`,
		"hit the object with UID ", "what it had read under that name was UID ", "precondition"} {
		if !strings.Contains(f.Message, want) {
			t.Errorf("the message lacks %q: %s", want, f.Message)
		}
	}
}

// These delete by name and have read what they delete: in an earlier reply, by their cache alone,
// by a list, or because they made it themselves and never heard so.
func TestDeletesOfWhatWasRead(t *testing.T) {
	readers := map[string]func(o *operator, c context.Context, key client.ObjectKey) error{
		"by a get": func(o *operator, c context.Context, key client.ObjectKey) error {
			return client.IgnoreNotFound(o.live.Get(c, key, &corev1.Secret{}))
		},
		"by its cache": func(o *operator, c context.Context, key client.ObjectKey) error {
			return client.IgnoreNotFound(o.Get(c, key, &corev1.Secret{}))
		},
		"by a list": func(o *operator, c context.Context, _ client.ObjectKey) error {
			return o.live.List(c, &corev1.SecretList{})
		},
		"by making it": func(o *operator, c context.Context, key client.ObjectKey) error {
			return client.IgnoreAlreadyExists(o.Create(c, &corev1.Secret{ObjectMeta: named(key.Name)}))
		},
	}
	for name, read := range readers {
		t.Run(name, func(t *testing.T) {
			deleted := false
			simtest.Holds(t, func(w *sim.World) {
				w.Always("DeletesWhatItRead", property.DeletesWhatItRead())
				start(w, controller.Options{},
					func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
						s := &corev1.Secret{ObjectMeta: named("key")}
						if err := read(o, c, client.ObjectKeyFromObject(s)); err != nil {
							return result{}, err
						}
						return result{}, client.IgnoreNotFound(o.Delete(c, s))
					}, nil)
				w.Inject(fault.LostReply(), fault.StaleCache(5*time.Second))
				if name != "by making it" {
					w.Apply(&corev1.Secret{ObjectMeta: named("key")})
				}
				settleWith(w, work("a"))
				_, there := w.History().Object("", "Secret", "default", "key")
				deleted = deleted || !there
			}, sim.Runs(20), sim.For(0), sim.Verify(0), sim.Shrink(0))
			if !deleted {
				t.Error("nothing was deleted, so nothing was judged")
			}
		})
	}
}
