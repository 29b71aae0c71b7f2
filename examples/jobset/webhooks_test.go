//go:build !known

package jobset

import (
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/jobset/pkg/webhooks"

	"github.com/wavetank/wavetank/sim"
)

func setupWebhooks(mgr ctrl.Manager) error { return webhooks.Setup(mgr) }

func installWebhooks(w *sim.World, manifests string) { w.Install(manifests) }
