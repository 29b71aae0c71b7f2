package upstream

import (
	"context"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/sim"
)

// accounts is newServiceAccountController of core.go, with the defaults of its component config.
func accounts(ctx context.Context, cfg *rest.Config) error {
	c, err := connect(cfg)
	if err != nil {
		return err
	}
	s, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), c.typed.Core().V1().ServiceAccounts(),
		c.typed.Core().V1().Namespaces(), c.client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return err
	}
	defer c.start(ctx)()
	s.Run(ctx, 1)
	return nil
}

// publisher is newRootCACertificatePublisherController of certificates.go.
func publisher(ctx context.Context, cfg *rest.Config) error {
	c, err := connect(cfg)
	if err != nil {
		return err
	}
	ca, err := os.ReadFile("../namespace/ca.crt")
	if err != nil {
		return err
	}
	p, err := rootcacertpublisher.NewPublisher(c.typed.Core().V1().ConfigMaps(), c.typed.Core().V1().Namespaces(),
		c.client, ca)
	if err != nil {
		return err
	}
	defer c.start(ctx)()
	p.Run(ctx, 1)
	return nil
}

// TestContent compares the controllers that put objects into each namespace.
func TestContent(t *testing.T) {
	real := []controller{
		{"serviceaccount-controller", func(w *sim.World, name string) { w.Run(name, accounts) }},
		{"root-ca-certificate-publisher-controller", func(w *sim.World, name string) { w.Run(name, publisher) }},
	}
	account := &corev1.ServiceAccount{ObjectMeta: in("shop", "default")}
	bundle := &corev1.ConfigMap{ObjectMeta: in("shop", "kube-root-ca.crt")}
	change := func(w *sim.World, set func(*corev1.ConfigMap)) {
		cm := bundle.DeepCopy()
		must(w.Client().Get(w.Context(), client.ObjectKeyFromObject(cm), cm))
		set(cm)
		must(w.Client().Update(w.Context(), cm))
		w.Sleep(let)
	}
	for name, scenario := range map[string]func(*sim.World){
		"a new namespace":             func(*sim.World) {},
		"a namespace that is deleted": func(w *sim.World) { w.Remove(shop()) },
		"an account that is deleted":  func(w *sim.World) { w.Remove(account) },
		"a bundle that is deleted":    func(w *sim.World) { w.Remove(bundle) },
		"a bundle with other data": func(w *sim.World) {
			change(w, func(c *corev1.ConfigMap) { c.Data["more"] = "x" })
		},
		"a bundle without its description": func(w *sim.World) {
			change(w, func(c *corev1.ConfigMap) { c.Annotations = nil })
		},
		"a bundle with another description": func(w *sim.World) {
			change(w, func(c *corev1.ConfigMap) { c.Annotations["kubernetes.io/description"] = "mine" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, real, func(w *sim.World) {
				w.Apply(shop())
				w.Sleep(let)
				scenario(w)
				w.Sleep(time.Minute)
			}, namespace.Content()...)
		})
	}
}
