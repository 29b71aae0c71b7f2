package scaffold_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wavetank/wavetank/cmd/wavetank/internal/scaffold"
)

// A controller that acts by the clock never becomes quiescent, so its test does not wait for that.
// The other controllers of its package are tested as usual.
func TestActsByTheClock(t *testing.T) {
	const clock = `package controller

import (
	"time"

	_ "github.com/robfig/cron/v3"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "example.com/backup/api/v1"
)

type ClockReconciler struct{ BackupReconciler }

func (r *ClockReconciler) later() ctrl.Result { return ctrl.Result{RequeueAfter: 150 * time.Minute} }

func (r *ClockReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Backup{}).Complete(r)
}
`
	dir := project(t, map[string]string{"internal/controller/clock.go": clock,
		"config/samples/v1.yaml": "apiVersion: example.com/v1\nkind: Backup\nmetadata:\n  name: a\n" +
			"spec:\n  schedule: \"0 */2 * * *\"\n"})
	p, err := scaffold.Read(dir)
	if err != nil || len(p.Controllers) != 2 {
		t.Fatalf("%d controllers (%v)", len(p.Controllers), err)
	}
	for _, process := range p.Processes {
		test, err := p.Test(process)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"// Guess: with robfig/cron ClockReconciler acts by the clock",
			`w.ApplyFiles("../../config/samples/v1.yaml")`, "w.Sleep(450 * time.Minute)"} {
			if strings.Contains(string(test.Source), part) != (process.Name == "Clock") {
				t.Errorf("whether the test of %s has %s:\n%s", process.Name, part, test.Source)
			}
		}
	}
}

// Where a process has other controllers, too, these are tested as usual, and what acts by the clock
// gets its samples afterwards.
func TestOneOfTwoActsByTheClock(t *testing.T) {
	const clock = `package mail

import (
	_ "github.com/robfig/cron/v3"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "example.com/backup/api/v1"
)

type ClockReconciler struct{ LetterReconciler }

func (r *ClockReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).For(&v1.Backup{}).Complete(r)
}
`
	const other = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n"
	files := map[string]string{"internal/mail/mail.go": mail, "internal/mail/clock.go": clock,
		"cmd/main.go": strings.Replace(program, "	_ = mgr.Start(",
			"	_ = (&mail.ClockReconciler{}).SetupWithManager(mgr)\n	_ = mgr.Start(", 1),
		"config/samples/v1.yaml": "apiVersion: example.com/v1\nkind: Backup\nmetadata:\n  name: a\n" +
			"spec:\n  schedule: \"0 */2 * * *\"\n", "config/samples/letter.yaml": other}
	written := func() string {
		p, err := scaffold.Read(project(t, files))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.Processes, func(p *scaffold.Process) bool { return len(p.Controllers) == 2 })
		if i < 0 {
			t.Fatalf("no process has two controllers: %+v", p.Processes)
		}
		test, err := p.Test(p.Processes[i])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(string(test.Source)), " ")
	}
	const both = `auto.Scenario(w, auto.Samples("../config/samples/letter.yaml"), auto.Kinds(&corev1.ConfigMap{})) ` +
		`w.ApplyFiles("../config/samples/v1.yaml") w.Sleep(6 * time.Hour)`
	if text := written(); !strings.Contains(text, both) || strings.Contains(text, "w.Inject") {
		t.Errorf("the test does not have %s:\n%s", both, text)
	}
	// One file has the samples of both: auto takes those of its kinds.
	files["config/samples/letter.yaml"] += "---\n" + files["config/samples/v1.yaml"]
	delete(files, "config/samples/v1.yaml")
	shared := strings.Replace(both, "v1.yaml", "letter.yaml", 1)
	if text := written(); !strings.Contains(text, shared) || strings.Contains(text, "w.Inject") {
		t.Errorf("the test does not have %s:\n%s", shared, text)
	}
}
