package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/auto"

	v1 "example.com/backup/api/v1"
)

// The operator makes a claim once. A user who deletes it wants it gone, so the status may
// keep its name.
func TestAuto(t *testing.T) { sim.Check(t, byAuto(false)) }

// The bug that the operator once had is found with no property of its own.
func TestAutoFindsGeneratedNames(t *testing.T) {
	if r := sim.Explore(t, byAuto(true), sim.Runs(100), sim.For(0)); r.Failure == nil ||
		r.Failure.Property != auto.SameEndState {
		t.Errorf("%d runs found %+v", r.Runs, r.Failure)
	}
}

func byAuto(generated bool) func(*sim.World) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return func(w *sim.World) {
		w.Install("../../config/crd/bases")
		w.Start("backup", func(mgr ctrl.Manager) error {
			return (&BackupReconciler{Client: mgr.GetClient(), Generated: generated}).SetupWithManager(mgr)
		}, sim.Options(ctrl.Options{Scheme: scheme}))
		auto.Scenario(w, auto.Without(auto.StatusIsTrue))
	}
}
