package determinism

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

func configMap(namespace, name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string]string{"k": value},
	}
}

// source is a ConfigMap that the programs here react to.
func source(name, value string) *corev1.ConfigMap { return configMap("default", name, value) }

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// faults are those that reach every program with a manager.
func faults(process string) []fault.Fault {
	return []fault.Fault{
		fault.StaleCache(30 * time.Second), fault.Crash(process), fault.Restart(process), fault.LostReply(),
		fault.ServerError(),
		fault.Conflict(), fault.DroppedWatch(), fault.Expired(), fault.RacingRequeue(),
	}
}

// twoRounds lets a program react to three sources, then to two that change and one that goes.
func twoRounds(w *sim.World) {
	w.Apply(source("a", "1"), source("b", "1"), source("c", "1"))
	w.Settle()
	w.Apply(source("a", "2"), source("b", "2"))
	w.Remove(source("c", ""))
	w.Settle()
}

// copyTo writes data into a Secret, which it creates where there is none.
func copyTo(ctx context.Context, c client.Client, name string, data map[string]string) error {
	to := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	_, err := ctrl.CreateOrUpdate(ctx, c, to, func() error {
		to.StringData = nil
		to.Data = map[string][]byte{}
		for k, v := range data {
			to.Data[k] = []byte(v)
		}
		return nil
	})
	return err
}
