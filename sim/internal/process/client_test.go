package process

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// listener reads what the server sends.
type listener struct {
	http.RoundTripper
	heard *bytes.Buffer
}

func (l listener) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(resp.Body, l.heard), resp.Body}
	}
	return resp, err
}

// A program gets the objects that client-go would decode, from protobuf or from JSON. Where its own
// transport reads the replies client-go does decode them.
func TestObjectsArePassedAsDecoded(t *testing.T) {
	for _, content := range []string{"", runtime.ContentTypeJSON} {
		t.Run(content, func(t *testing.T) {
			var heard bytes.Buffer
			passed := objectsOf(t, func(cfg *rest.Config) { cfg.ContentType = content })
			decoded := objectsOf(t, func(cfg *rest.Config) {
				cfg.ContentType = content
				cfg.Wrap(func(rt http.RoundTripper) http.RoundTripper { return listener{rt, &heard} })
			})
			if !reflect.DeepEqual(passed, decoded) || len(passed) < 12 {
				t.Errorf("a program gets %d objects\n%+v, want %d\n%+v", len(passed), passed, len(decoded), decoded)
			}
			if stubs := bytes.Count(heard.Bytes(), []byte("wavetank-stub")); stubs > 0 || heard.Len() == 0 {
				t.Errorf("the program's transport read %d bytes with %d stubs", heard.Len(), stubs)
			}
		})
	}
}

// objectsOf returns the objects that a program gets by watches, from its cache and as replies.
func objectsOf(t *testing.T, prepare func(*rest.Config)) (got []any) {
	note := func(o any) {
		if copied, ok := o.(*appsv1.Deployment); ok {
			got = append(got, copied.DeepCopy())
		}
	}
	run(t, func(t *testing.T, w *world) {
		w.Start("p", func(ctx context.Context, cfg *rest.Config) error {
			prepare(cfg)
			mgr, err := NewManager(cfg, ctrl.Options{})
			if err != nil {
				return err
			}
			informer, err := mgr.GetCache().GetInformer(ctx, &appsv1.Deployment{})
			if err != nil {
				return err
			}
			_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: note, DeleteFunc: note,
				UpdateFunc: func(before, o any) { note(before); note(o) }})
			if err != nil {
				return err
			}
			if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
				return changeDeployment(ctx, mgr.GetClient(), note)
			})); err != nil {
				return err
			}
			return mgr.Start(ctx)
		}, Settings{})
		w.drain(30 * time.Second)
		for _, e := range w.exits {
			t.Error("the program has ended:", e)
		}
	})
	return got
}

func changeDeployment(ctx context.Context, c client.Client, note func(any)) error {
	labels := map[string]string{"a": "b"}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d", Labels: labels}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{
		Limits: corev1.ResourceList{"cpu": resource.MustParse("1.50")}}}}
	for _, write := range []func() error{
		func() error { return c.Create(ctx, d) },
		func() error { d.Spec.Paused = true; return c.Update(ctx, d) },
		func() error { d.Status.Replicas = 3; return c.Status().Update(ctx, d) },
		// The reply has neither of these.
		func() error { d.Spec.MinReadySeconds, d.Labels["more"] = 7, "c"; return c.Status().Update(ctx, d) },
		func() error {
			before := d.DeepCopy()
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Available", Status: corev1.ConditionTrue}}
			return c.Status().Patch(ctx, d, client.MergeFrom(before))
		},
		func() error {
			before := d.DeepCopy()
			d.Labels = nil
			return c.Patch(ctx, d, client.MergeFrom(before))
		},
		func() error { return c.Get(ctx, client.ObjectKeyFromObject(d), d) },
		func() error { return c.Delete(ctx, d) },
	} {
		if err := write(); err != nil {
			return err
		}
		note(d)
		d.ManagedFields = nil
		time.Sleep(time.Second)
	}
	return nil
}
