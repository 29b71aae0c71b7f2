package world

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/run"
)

// A run that is made for a program ends when the scenario starts it. No program runs in it.
func TestRunFindsTheProgram(t *testing.T) {
	defer process.Enter(logr.Discard(), process.Outside{})()
	began, setups, account := 0, 0, "shop/op"
	make := Runner(func(w *World) {
		began++
		w.Start("first", func(ctrl.Manager) error { setups++; return nil }, ProcessOptions{})
		w.Sleep(time.Second)
		w.Run("second", func(context.Context, *rest.Config) error { return errors.New("it runs") },
			ProcessOptions{As: &account, ListThenWatch: true})
		began++
	})
	for _, name := range []string{"first", "second", "third"} {
		h := &run.Hosting{Process: name}
		began = 0
		res := make(t, choice.Play(nil), run.Settings{MaxSteps: 1000, Hosting: h})
		if found := name != "third"; (h.Main != nil) != found || (began == 1) != found || setups != 0 {
			t.Errorf("%s: found %t, %d setups, and the run continues: %t (%s)", name, h.Main != nil, setups, began > 1,
				res.Ending.Sentence())
		}
		if name != "second" {
			continue
		}
		if err := h.Main(t.Context(), nil); !strings.Contains(err.Error(), "it runs") || h.InSetup(err) ||
			!h.InSetup(&setupError{err}) || h.Account != account || !h.ListThenWatch {
			t.Errorf("the program is %+v, and returns %v", h, err)
		}
	}
}

// A webhook is not looked for in an operator that is a process of its own.
func TestProcessesOfTheirOwnServeNoWebhooks(t *testing.T) {
	r := following()
	r.Child = func() *exec.Cmd { return nil }
	func() {
		defer func() { _ = recover() }()
		(&rules{core: r.core, real: r}).Endpoints(nil, "/judge")
	}()
	if !strings.HasPrefix(r.course.Cannot, "the webhook /judge is called") {
		t.Errorf("the run cannot: %q", r.course.Cannot)
	}
}
