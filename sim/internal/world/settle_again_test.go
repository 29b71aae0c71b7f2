package world

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/wavetank/wavetank/history"
)

// A program may do nothing for some seconds after its start, as one that waits for a lease.
func TestSettleWaitsForAProgramThatStartsAgain(t *testing.T) {
	mustHold(t, func(w *World) {
		starts, want := 0, "1"
		w.Eventually("the last incarnation has written", func(h *history.History) error {
			var cm corev1.ConfigMap
			if o, _ := h.Object("", "ConfigMap", "default", "a"); o.Into(&cm) != nil || cm.Data["start"] != want {
				return fmt.Errorf("start %s has written nothing: %v", want, cm.Data)
			}
			return nil
		})
		w.Apply(configMapA())
		w.Run("late", func(ctx context.Context, cfg *rest.Config) error {
			clients, err := kubernetes.NewForConfig(cfg)
			if err != nil {
				return err
			}
			starts++
			time.Sleep(20 * time.Second)
			_, err = clients.CoreV1().ConfigMaps("default").Patch(ctx, "a", types.MergePatchType,
				fmt.Appendf(nil, `{"data":{"start":"%d"}}`, starts), metav1.PatchOptions{})
			<-ctx.Done()
			return err
		}, ProcessOptions{})
		w.Sleep(time.Minute)
		w.Settle()
		want = "2"
		w.Stop("late")
		w.Settle()
	})
}
