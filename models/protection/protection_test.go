package protection_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/protection"
)

type object map[string]any

const (
	claims  = "/api/v1/namespaces/shop/persistentvolumeclaims"
	pods    = "/api/v1/namespaces/shop/pods"
	volumes = "/api/v1/persistentvolumes"
)

// cluster is one with the two controllers, a namespace and a claim.
func cluster(t *testing.T) *actortest.Cluster {
	t.Helper()
	c := actortest.New(protection.New()...)
	must(t, c, http.MethodPost, "/api/v1/namespaces", object{"metadata": object{"name": "shop"}})
	must(t, c, http.MethodPost, claims, object{"metadata": object{"name": "data"}, "spec": object{
		"accessModes": []string{"ReadWriteOnce"}, "resources": object{"requests": object{"storage": "1Gi"}}}})
	return c
}

func must(t *testing.T, c *actortest.Cluster, method, path string, in any) {
	t.Helper()
	var out struct{ Message string }
	if code := c.Do(method, path, in, &out); code > 201 {
		t.Fatalf("%s %s: %d %s", method, path, code, out.Message)
	}
}

// there reports whether an object is, and with which finalizers.
func there(c *actortest.Cluster, path string) (bool, []string) {
	var o struct{ Metadata metav1.ObjectMeta }
	return c.Do(http.MethodGet, path, nil, &o) == http.StatusOK, o.Metadata.Finalizers
}

func TestAClaimThatNobodyUsesGoes(t *testing.T) {
	c := cluster(t)
	must(t, c, http.MethodDelete, claims+"/data", nil)
	if is, _ := there(c, claims+"/data"); !is {
		t.Fatal("the claim was gone at once; the API server puts a finalizer on it")
	}
	c.Run(time.Minute)
	if is, f := there(c, claims+"/data"); is {
		t.Errorf("the claim is still there, kept by %v", f)
	}
}

func TestAClaimStaysWhileAPodUsesIt(t *testing.T) {
	pod := func(node string) object {
		return object{"metadata": object{"name": "db"}, "spec": object{"nodeName": node,
			"containers": []object{{"name": "db", "image": "db"}},
			"volumes":    []object{{"name": "data", "persistentVolumeClaim": object{"claimName": "data"}}}}}
	}
	for _, tc := range []struct {
		name, node string
		stays      bool
	}{{"a pod that is scheduled", "a", true}, {"a pod that is not scheduled", "", false}} {
		t.Run(tc.name, func(t *testing.T) {
			c := cluster(t)
			must(t, c, http.MethodPost, pods, pod(tc.node))
			must(t, c, http.MethodDelete, claims+"/data", nil)
			c.Run(time.Minute)
			if is, _ := there(c, claims+"/data"); is != tc.stays {
				t.Fatalf("the claim is there: %v, not %v", is, tc.stays)
			}
			must(t, c, http.MethodDelete, pods+"/db?gracePeriodSeconds=0", nil)
			c.Run(time.Minute)
			if is, f := there(c, claims+"/data"); is {
				t.Errorf("the pod is gone and the claim still there, kept by %v", f)
			}
		})
	}
}

func TestTheFinalizerIsPutBack(t *testing.T) {
	c := cluster(t)
	must(t, c, http.MethodPatch, claims+"/data", object{"metadata": object{"finalizers": []string{}}})
	c.Run(time.Minute)
	if _, f := there(c, claims+"/data"); !slices.Contains(f, "kubernetes.io/pvc-protection") {
		t.Errorf("the claim's finalizers are %v", f)
	}
}

func TestAVolumeStaysWhileItIsBound(t *testing.T) {
	c := cluster(t)
	must(t, c, http.MethodPost, volumes,
		object{"metadata": object{"name": "disk"}, "spec": object{"capacity": object{"storage": "1Gi"},
			"accessModes": []string{"ReadWriteOnce"}, "hostPath": object{"path": "/disk"}}})
	phase := func(p string) {
		must(t, c, http.MethodPatch, volumes+"/disk/status", object{"status": object{"phase": p}})
	}
	phase("Bound")
	must(t, c, http.MethodDelete, volumes+"/disk", nil)
	c.Run(time.Minute)
	if is, _ := there(c, volumes+"/disk"); !is {
		t.Fatal("the volume went while it was bound")
	}
	phase("Released")
	c.Run(time.Minute)
	if is, f := there(c, volumes+"/disk"); is {
		t.Errorf("the volume is still there, kept by %v", f)
	}
}
