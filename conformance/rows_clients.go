package conformance

// Clients as programs use them: the replies, and what client-go and controller-runtime return for
// them.

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

var (
	widgetResource = schema.GroupVersionResource{Group: crdGroup, Version: "v1", Resource: "widgets"}
	widgetKind     = schema.GroupVersionKind{Group: crdGroup, Version: "v1", Kind: "Widget"}
)

// must ends a row whose client could not even be made.
func must[V any](v V, err error) V {
	if err != nil {
		panic(abort(err.Error()))
	}
	return v
}

// said is what a client's caller can tell of an error.
func said(err error) map[string]any {
	return map[string]any{
		"reason": string(apierrors.ReasonForError(err)), "notFound": apierrors.IsNotFound(err),
		"conflict": apierrors.IsConflict(err),
		"exists":   apierrors.IsAlreadyExists(err), "invalid": apierrors.IsInvalid(err),
		"expired": apierrors.IsResourceExpired(err),
	}
}

// rowsClients are keyed by area and name.
var rowsClients = map[string]func(*T){
	"clients: another media type is not acceptable": func(t *T) {
		t.Script("$oneMap")
		p, _, _ := path("cm/a", t.Namespace)
		t.Do("GET as text", "GET", p, map[string][]string{"Accept": {"text/plain"}}, nil)
		t.Do("GET as anything", "GET", p, map[string][]string{"Accept": {"*/*"}}, nil)
		t.Do("GET as one of two", "GET", p, map[string][]string{"Accept": {"text/plain, application/json"}}, nil)
	},
	"clients: protobuf first, JSON second": func(t *T) {
		t.Script("$oneMap")
		p, _, _ := path("cm/a", t.Namespace)
		code, h, _, err := t.roundTrip("GET", p,
			map[string][]string{"Accept": {"application/vnd.kubernetes.protobuf,application/json"}}, nil)
		t.Note("content type", []any{code, h.Get("Content-Type")}, err)
	},
	"clients: another content type is not supported": func(t *T) {
		p, _, _ := path("cm", t.Namespace)
		t.Do("POST as text", "POST", p, map[string][]string{"Content-Type": {"text/plain"}},
			[]byte(`{"metadata":{"name":"a"}}`))
		t.Do("POST as YAML", "POST", p, map[string][]string{"Content-Type": {"application/yaml"}},
			[]byte("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: b\n"))
	},
	"clients: typed: create, get, update, conflict": func(t *T) {
		api := must(kubernetes.NewForConfig(t.Config())).CoreV1().ConfigMaps(t.Namespace)
		made, err := api.Create(t.Ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			metav1.CreateOptions{})
		t.Note("created", made, err)
		stale := made.DeepCopy()
		made.Data = map[string]string{"k": "v"}
		made, err = api.Update(t.Ctx, made, metav1.UpdateOptions{})
		t.Note("updated", made, err)
		_, err = api.Update(t.Ctx, stale, metav1.UpdateOptions{})
		t.Note("stale", said(err), nil)
		_, err = api.Get(t.Ctx, "absent", metav1.GetOptions{})
		t.Note("absent", said(err), nil)
	},
	"clients: typed: deployments and their scale": func(t *T) {
		t.Script("$oneDeploy")
		api := must(kubernetes.NewForConfig(t.Config())).AppsV1().Deployments(t.Namespace)
		scale, err := api.GetScale(t.Ctx, "a", metav1.GetOptions{})
		t.Note("scale", scale, err)
		scale.Spec.Replicas = 5
		scale, err = api.UpdateScale(t.Ctx, "a", scale, metav1.UpdateOptions{})
		t.Note("scaled", scale, err)
	},
	"clients: typed: evict and token": func(t *T) {
		t.Script("$boundPod")
		err := must(kubernetes.NewForConfig(t.Config())).CoreV1().Pods(t.Namespace).Delete(t.Ctx, "a",
			metav1.DeleteOptions{})
		t.Note("deleted", nil, err)
	},
	"clients: dynamic: create, list, patch, delete": func(t *T) {
		api := must(dynamic.NewForConfig(t.Config())).Resource(widgetResource).Namespace(t.Namespace)
		w := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"color": "red"}}}
		w.SetGroupVersionKind(widgetKind)
		w.SetName("a")
		made, err := api.Create(t.Ctx, w, metav1.CreateOptions{})
		t.Note("created", made, err)
		list, err := api.List(t.Ctx, metav1.ListOptions{})
		t.Note("listed", list, err)
		made, err = api.Patch(t.Ctx, "a", types.MergePatchType, []byte(`{"status":{"phase":"New"}}`),
			metav1.PatchOptions{}, "status")
		t.Note("patched", made, err)
		t.Note("deleted", nil, api.Delete(t.Ctx, "a", metav1.DeleteOptions{}))
	},
	"clients: metadata client": func(t *T) {
		t.Script("$oneDeploy")
		// Not through the recorder: this client asks for protobuf first, which only the real server
		// speaks.
		deployments := appsv1.SchemeGroupVersion.WithResource("deployments")
		api := must(metadata.NewForConfig(t.arm.Config())).Resource(deployments).Namespace(t.Namespace)
		one, err := api.Get(t.Ctx, "a", metav1.GetOptions{})
		t.Note("got", one, err)
		list, err := api.List(t.Ctx, metav1.ListOptions{})
		t.Note("listed", list.Items[0].Name, err)
		one, err = api.Patch(t.Ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":["x.example/y"]}}`),
			metav1.PatchOptions{})
		t.Note("patched", one, err)
	},
	"clients: a pager reads every page": func(t *T) {
		t.Script("$threeMaps")
		api := must(kubernetes.NewForConfig(t.Config())).CoreV1().ConfigMaps(t.Namespace)
		p := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object,
			error) {
			return api.List(ctx, o)
		})
		p.PageSize = 2
		var names []string
		err := p.EachListItem(t.Ctx, metav1.ListOptions{}, func(o runtime.Object) error {
			names = append(names, o.(*corev1.ConfigMap).Name)
			return nil
		})
		t.Note("names", names, err)
	},
	"clients: discovery client maps kinds": func(t *T) {
		d := must(discovery.NewDiscoveryClientForConfig(t.arm.Config()))
		list, err := d.ServerResourcesForGroupVersion(crdGroup + "/v1")
		t.Note("kinds", len(list.APIResources), err)
		client := must(apiutil.NewDynamicRESTMapper(t.arm.Config(), t.client))
		for _, gk := range []schema.GroupKind{{Group: "apps", Kind: "Deployment"}, {Group: crdGroup, Kind: "Widget"},
			{Kind: "Namespace"}} {
			m, err := client.RESTMapping(gk)
			if err != nil {
				t.Note("mapping", nil, err)
				continue
			}
			t.Note("mapping", fmt.Sprint(m.Resource, m.Scope.Name()), nil)
		}
	},
	"clients: controller-runtime: owner, finalizer, status": controllerRuntime,
}

// controllerRuntime does what most reconcilers do.
func controllerRuntime(t *T) {
	// The mapper's discovery goes past the recorder: it shows every group, and rows of their own
	// compare those.
	mapper := must(apiutil.NewDynamicRESTMapper(t.arm.Config(), t.client))
	c := must(client.New(t.Config(), client.Options{Mapper: mapper}))
	own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner", Namespace: t.Namespace}}
	t.Note("owner", own, c.Create(t.Ctx, own))
	d := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"color": "blue"}}}
	d.SetGroupVersionKind(widgetKind)
	d.SetName("a")
	d.SetNamespace(t.Namespace)
	t.Note("reference", nil, controllerutil.SetControllerReference(own, d, c.Scheme()))
	controllerutil.AddFinalizer(d, "x.example/y")
	t.Note("created", d, c.Create(t.Ctx, d))
	before := d.DeepCopy()
	_ = unstructured.SetNestedField(d.Object, "Ready", "status", "phase")
	t.Note("status", d, c.Status().Patch(t.Ctx, d, client.MergeFrom(before)))
	stale := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	again := before.DeepCopy()
	again.SetLabels(map[string]string{"x": "z"})
	t.Note("stale patch", said(c.Patch(t.Ctx, again, stale)), nil)
	t.Note("deleted", nil, c.Delete(t.Ctx, d))
	t.Note("read", d, c.Get(t.Ctx, client.ObjectKeyFromObject(d), d))
	controllerutil.RemoveFinalizer(d, "x.example/y")
	t.Note("released", nil, c.Update(t.Ctx, d))
	t.Note("gone", said(c.Get(t.Ctx, client.ObjectKeyFromObject(d), d)), nil)
	op, err := controllerutil.CreateOrUpdate(t.Ctx, c, own, func() error {
		own.Data = map[string]string{"k": "v"}
		return nil
	})
	t.Note("create or update", op, err)
}
