package quota_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor/actortest"
	"github.com/wavetank/wavetank/models/quota"
)

const inDefault = "/api/v1/namespaces/default/"

type cluster struct {
	*actortest.Cluster
	t *testing.T
}

// start is a cluster with quotas, of which the one of the test has these limits.
func start(t *testing.T, hard map[string]string, scopes ...corev1.ResourceQuotaScope) *cluster {
	t.Helper()
	c := &cluster{actortest.New(quota.New()), t}
	if hard != nil {
		c.post(http.StatusCreated, "resourcequotas", &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Name: "q"},
			Spec:       corev1.ResourceQuotaSpec{Hard: list(hard), Scopes: scopes},
		})
		c.Run(time.Second)
	}
	return c
}

func list(of map[string]string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for k, v := range of {
		out[corev1.ResourceName(k)] = resource.MustParse(v)
	}
	return out
}

// post creates an object, wants a status code, and returns the message.
func (c *cluster) post(code int, what string, o any) string {
	c.t.Helper()
	var status struct{ Message string }
	if got := c.Do(http.MethodPost, inDefault+what, o, &status); got != code {
		c.t.Errorf("POST %s: %d, want %d: %s", what, got, code, status.Message)
	}
	return status.Message
}

// want compares what the quota has used.
func (c *cluster) want(used string) {
	c.t.Helper()
	var q corev1.ResourceQuota
	c.Do(http.MethodGet, inDefault+"resourcequotas/q", nil, &q)
	var out []string
	for name, n := range q.Status.Used {
		out = append(out, fmt.Sprintf("%s=%s", name, n.String()))
	}
	slices.Sort(out)
	if got := strings.Join(out, " "); got != used {
		c.t.Errorf("used %q, want %q", got, used)
	}
}

func pod(name string, requests, limits map[string]string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list(requests), Limits: list(limits)}
	return p
}

func claimOf(name string, class *string, size string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: class,
			Resources: corev1.VolumeResourceRequirements{Requests: list(map[string]string{"storage": size})}}}
}

func TestAQuotaIsGivenBackByTheController(t *testing.T) {
	c := start(t, map[string]string{"pods": "1", "count/configmaps": "2"})
	c.want("count/configmaps=0 pods=0")
	c.post(http.StatusCreated, "pods?dryRun=All", pod("a", nil, nil))
	c.want("count/configmaps=0 pods=0")
	c.post(http.StatusCreated, "pods", pod("a", nil, nil))
	c.want("count/configmaps=0 pods=1")
	const full = `pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`
	if got := c.post(http.StatusForbidden, "pods", pod("b", nil, nil)); got != full {
		t.Errorf("message %q", got)
	}
	c.Do(http.MethodDelete, inDefault+"pods/a", nil, nil)
	c.post(http.StatusForbidden, "pods", pod("b", nil, nil)) // not counted again yet
	c.Run(time.Second)
	c.want("count/configmaps=0 pods=0")
	c.post(http.StatusCreated, "pods", pod("b", nil, nil))
	c.Do(http.MethodPut, inDefault+"pods/b/status", map[string]any{"metadata": map[string]any{"name": "b"},
		"status": map[string]any{"phase": "Failed"}}, nil)
	c.Run(time.Second)
	c.want("count/configmaps=0 pods=0")
}

// A request that is charged and fails all the same is given back by the next count of everything.
func TestAFailedRequestIsChargedUntilTheResync(t *testing.T) {
	c := start(t, map[string]string{"configmaps": "5", "services.nodeports": "2"})
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	c.post(http.StatusCreated, "configmaps", cm)
	c.post(http.StatusConflict, "configmaps", cm)
	c.want("configmaps=2 services.nodeports=0")
	c.Run(6 * time.Minute)
	c.want("configmaps=1 services.nodeports=0")
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: corev1.ServiceSpec{
		Type:  corev1.ServiceTypeNodePort,
		Ports: []corev1.ServicePort{{Name: "a", Port: 1}, {Name: "b", Port: 2}, {Name: "c", Port: 3}}}}
	c.post(http.StatusForbidden, "services", s)
	s.Spec.Ports = s.Spec.Ports[:2]
	c.post(http.StatusCreated, "services", s)
	c.want("configmaps=1 services.nodeports=2")
	c.Do(http.MethodPatch, inDefault+"services/s", map[string]any{"spec": map[string]any{"type": "ClusterIP"}}, nil)
	c.Run(time.Second)
	c.want("configmaps=1 services.nodeports=0")
}

func TestAQuotaOfRequestsNeedsThem(t *testing.T) {
	c := start(t, map[string]string{"requests.cpu": "1", "limits.memory": "1Gi"})
	const lacks = `pods "a" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c`
	if got := c.post(http.StatusForbidden, "pods", pod("a", nil, nil)); got != lacks {
		t.Errorf("message %q", got)
	}
	c.post(http.StatusCreated, "pods", pod("a", map[string]string{"cpu": "600m"}, map[string]string{"memory": "1Gi"}))
	c.want("limits.memory=1Gi requests.cpu=600m")
	const over = `pods "b" is forbidden: exceeded quota: q, requested: limits.memory=1Mi,requests.cpu=500m, ` +
		`used: limits.memory=1Gi,requests.cpu=600m, limited: limits.memory=1Gi,requests.cpu=1`
	if got := c.post(http.StatusForbidden, "pods",
		pod("b", map[string]string{"cpu": "500m"}, map[string]string{"memory": "1Mi"})); got != over {
		t.Errorf("message %q", got)
	}
}

func TestScopesOfAQuota(t *testing.T) {
	c := start(t, map[string]string{"pods": "1"}, corev1.ResourceQuotaScopeNotTerminating)
	job := pod("job", nil, nil)
	job.Spec.ActiveDeadlineSeconds = new(int64(60))
	c.post(http.StatusCreated, "pods", job)
	c.want("pods=0")
	c.post(http.StatusCreated, "pods", pod("a", nil, nil))
	c.post(http.StatusForbidden, "pods", pod("b", nil, nil))
	c = start(t, map[string]string{"pods": "1"}, corev1.ResourceQuotaScopeCrossNamespacePodAffinity)
	if got := c.post(http.StatusNotImplemented, "pods", pod("a", nil, nil)); !strings.Contains(got, "with the scope") {
		t.Errorf("message %q", got)
	}
}

func TestClaimsAndCustomCounts(t *testing.T) {
	c := start(t, map[string]string{"requests.storage": "2Gi", "count/deployments.apps": "0",
		"fast.storageclass.storage.k8s.io/requests.storage": "1Gi"})
	claim := func(name, class string) *corev1.PersistentVolumeClaim {
		return claimOf(name, &class, "1Gi")
	}
	c.post(http.StatusCreated, "persistentvolumeclaims", claim("a", "fast"))
	c.post(http.StatusForbidden, "persistentvolumeclaims", claim("b", "fast"))
	c.post(http.StatusCreated, "persistentvolumeclaims", claim("b", "slow"))
	c.want("count/deployments.apps=0 fast.storageclass.storage.k8s.io/requests.storage=1Gi requests.storage=2Gi")
}

func TestLimitRangesGiveDefaultsAndBounds(t *testing.T) {
	c := start(t, nil)
	cpu := func(q string) corev1.ResourceList { return list(map[string]string{"cpu": q}) }
	c.post(http.StatusCreated, "limitranges", &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Name: "l"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{
			{Type: corev1.LimitTypeContainer, Default: cpu("1"), DefaultRequest: cpu("200m"), Max: cpu("2"),
				MaxLimitRequestRatio: cpu("5")},
			{Type: corev1.LimitTypePersistentVolumeClaim, Min: list(map[string]string{"storage": "1Gi"})},
		}}})
	var made corev1.Pod
	c.post(http.StatusCreated, "pods", pod("a", nil, nil))
	c.Do(http.MethodGet, inDefault+"pods/a", nil, &made)
	const note = "LimitRanger plugin set: cpu request for container c; cpu limit for container c"
	r := made.Spec.Containers[0].Resources
	if r.Requests.Cpu().String() != "200m" || r.Limits.Cpu().String() != "1" ||
		made.Annotations["kubernetes.io/limit-ranger"] != note || made.Status.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("resources %v, annotations %v, %s", r, made.Annotations, made.Status.QOSClass)
	}
	for _, row := range []struct{ request, limit, want string }{
		{"1", "3", `pods "b" is forbidden: maximum cpu usage per Container is 2, but limit is 3`},
		{"100m", "2", `pods "b" is forbidden: cpu max limit to request ratio per Container is 5, ` +
			`but provided ratio is 20.000000`},
	} {
		if got := c.post(http.StatusForbidden, "pods", pod("b", map[string]string{"cpu": row.request},
			map[string]string{"cpu": row.limit})); got != row.want {
			t.Errorf("message %q, want %q", got, row.want)
		}
	}
	const small = `persistentvolumeclaims "s" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, ` +
		`but request is 1Mi`
	if got := c.post(http.StatusForbidden, "persistentvolumeclaims", claimOf("s", nil, "1Mi")); got != small {
		t.Errorf("message %q", got)
	}
}
