//go:build conformance

package conformance

// What a verb costs: the model, a real kube-apiserver and the fake client, each through a
// controller-runtime client, for objects of three sizes. Run it with make bench-conformance.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func benchConfigMap(name string, kib int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Data:       map[string]string{"payload": strings.Repeat("x", kib<<10), "n": "0"},
	}
}

func benchClient(b *testing.B, arm Arm) client.Client {
	b.Helper()
	cfg := rest.CopyConfig(arm.Config())
	cfg.QPS = -1
	cfg.ContentConfig = rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"}
	c, err := client.New(cfg, client.Options{Scheme: clientgoscheme.Scheme})
	if err != nil {
		b.Fatal(err)
	}
	return c
}

func BenchmarkVerbs(b *testing.B) {
	real, err := StartReal()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = real.Stop() })
	model, err := StartModel()
	if err != nil {
		b.Fatal(err)
	}
	for _, arm := range []struct {
		name string
		c    client.Client
	}{
		{"kube-apiserver", benchClient(b, real)}, {"model", benchClient(b, model)},
		{"fake client", fake.NewClientBuilder().Build()},
	} {
		for _, kib := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/%dKiB", arm.name, kib), func(b *testing.B) { benchVerbs(b, arm.c, kib) })
		}
	}
}

func benchVerbs(b *testing.B, c client.Client, kib int) {
	ctx := context.Background()
	n := 0
	fresh := func() *corev1.ConfigMap {
		n++
		return benchConfigMap(fmt.Sprintf("bench-%d-%d", kib, n), kib)
	}
	must := func(b *testing.B, err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	one := fresh()
	must(b, c.Create(ctx, one))
	key := client.ObjectKeyFromObject(one)
	b.Run("get", func(b *testing.B) {
		for b.Loop() {
			must(b, c.Get(ctx, key, &corev1.ConfigMap{}))
		}
	})
	b.Run("patch", func(b *testing.B) {
		for b.Loop() {
			n++
			must(b, c.Patch(ctx, one.DeepCopy(),
				client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"data":{"n":"%d"}}`, n))))
		}
	})
	b.Run("update", func(b *testing.B) {
		must(b, c.Get(ctx, key, one))
		for b.Loop() {
			n++
			one.Data["n"] = fmt.Sprint(n)
			must(b, c.Update(ctx, one))
		}
	})
	b.Run("create and delete", func(b *testing.B) {
		for b.Loop() {
			cm := fresh()
			must(b, c.Create(ctx, cm))
			must(b, c.Delete(ctx, cm))
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			must(b, c.List(ctx, &corev1.ConfigMapList{}, client.InNamespace("default")))
		}
	})
	must(b, c.Delete(ctx, one))
}
