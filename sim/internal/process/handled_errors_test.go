package process

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/wavetank/wavetank/history"
)

// A program with a queue of its own gives the errors of its workers to HandleError. They are shown
// as the ends of what its worker did. Two programs do so at the same time.
func TestHandledErrorsAreShownWithTheirIncarnation(t *testing.T) {
	handle := map[string]func(context.Context, error){
		"p": func(_ context.Context, err error) { utilruntime.HandleError(err) },
		"q": func(ctx context.Context, err error) { utilruntime.HandleErrorWithContext(ctx, err, "syncing") },
	}
	run(t, func(t *testing.T, w *world) {
		for _, name := range []string{"p", "q"} {
			w.Start(name, func(ctx context.Context, _ *rest.Config) error {
				queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
				queue.Add("a")
				worker := func(context.Context) {
					for {
						key, down := queue.Get()
						if down {
							return
						}
						handle[name](context.Background(), errors.New(key+" failed in "+name))
						queue.Done(key)
					}
				}
				go wait.UntilWithContext(ctx, worker, time.Second)
				<-ctx.Done()
				queue.ShutDown()
				return nil
			}, Settings{})
		}
		w.drain(time.Second)
		w.Find("p").Current().Kill()
		w.drain(20 * time.Second)
		go utilruntime.HandleError(errors.New("of no program"))
		w.drain(21 * time.Second)
		var lines []string
		for _, line := range w.History.Render() {
			if strings.Contains(line, "ends: ") {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
		at := "sim/internal/process/handled_errors_test.go:"
		expect(t, "lines", len(lines), 3)
		for i, want := range []string{
			"00:00.000    p/1                ends: error: a failed in p at " + at,
			"00:00.000    q/1                ends: error: syncing: a failed in q at " + at,
			"00:11.000    p/2                ends: error: a failed in p at " + at,
		} {
			if i < len(lines) && !strings.HasPrefix(lines[i], want) {
				t.Errorf("line %d is %q, want %q", i, lines[i], want)
			}
		}
		expect(t, "events", w.History.Count(history.HandledError), 3)
	})
}
