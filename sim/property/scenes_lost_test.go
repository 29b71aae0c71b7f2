package property_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
	"github.com/wavetank/wavetank/sim/property"
)

// retriesStale retries after a conflict. Flawed, it puts the newest version on the object that it
// read at first; else it reads the object again and changes that.
func retriesStale(w *sim.World, flawed bool) {
	w.Always("NoLostUpdate", property.NoLostUpdate())
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if cm.Data["done"] == cm.Data["wanted"] {
			return result{}, nil
		}
		cm.Data["done"] = cm.Data["wanted"]
		return result{}, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			err := o.Update(c, cm)
			if !apierrors.IsConflict(err) {
				return err
			}
			latest := &corev1.ConfigMap{}
			if err := o.live.Get(c, client.ObjectKeyFromObject(cm), latest); err != nil {
				return err
			}
			if flawed {
				cm.ResourceVersion = latest.ResourceVersion
				return err
			}
			latest.Data["done"] = latest.Data["wanted"]
			cm = latest
			return err
		})
	}, nil)
	w.Inject(fault.Conflict())
	settleWith(w, work("a", "wanted", "x"))
}

// dropsLabels writes a field that users change, too, and may set it back. Flawed, it also writes
// the labels that it has read.
func dropsLabels(w *sim.World, flawed bool) {
	w.Always("NoLostField", property.NoLostField())
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		if !flawed {
			return result{}, o.set(c, cm, "done", "yes")
		}
		if cm.Data["done"] == "yes" {
			return result{}, nil
		}
		cm.ResourceVersion = ""
		cm.Data["done"] = "yes"
		return result{}, o.Update(c, cm)
	}, nil)
	w.Inject(fault.Conflict())
	w.Apply(work("a", "wanted", "x"))
	for range 3 {
		w.Settle()
		edit(w, "done", "no")
	}
	w.Settle()
}

// dropsFields marks work as done and removes its own mark when users ask for something else.
// Flawed, it keeps only the data that its first version knew.
func dropsFields(w *sim.World, flawed bool) {
	w.Always("NoDroppedField", property.NoDroppedField())
	start(w, controller.Options{}, func(o *operator, c context.Context, cm *corev1.ConfigMap) (result, error) {
		done, wanted := cm.Data["done"], cm.Data["wanted"]
		switch {
		case done == wanted:
			return result{}, nil
		case done != "":
			delete(cm.Data, "done")
		case flawed:
			cm.Data = map[string]string{"wanted": wanted, "done": wanted}
		default:
			cm.Data["done"] = wanted
		}
		return result{}, client.IgnoreNotFound(o.Update(c, cm))
	}, nil)
	w.Apply(work("a", "wanted", "x", "new", "field"))
	w.Settle()
	edit(w, "wanted", "y")
	edit(w, "new", "value")
	w.Settle()
}
