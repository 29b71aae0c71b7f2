package namespace

import (
	_ "embed"
	"maps"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/wavetank/wavetank/models/actor"
	"github.com/wavetank/wavetank/models/apiserver"
)

// rootCA is a self-signed certificate, valid until 2100. Its key is not kept.
//
//go:embed ca.crt
var rootCA string

// The ConfigMap that the publisher writes (pkg/controller/certificates/rootcacertpublisher).
const (
	rootCAName            = "kube-root-ca.crt"
	descriptionAnnotation = "kubernetes.io/description"
	description           = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal " +
		"endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across " +
		"distributions of Kubernetes clusters."
)

// maxRetry is the longest time between two attempts of the controllers of [Content] that fail. The
// shortest is first (util/workqueue, DefaultTypedControllerRateLimiter).
const maxRetry = 1000 * time.Second

// Content returns the two controllers of kube-controller-manager that put objects into every active
// namespace: "serviceaccount-controller" creates the ServiceAccount default, and
// "root-ca-certificate-publisher-controller" the ConfigMap kube-root-ca.crt. Both create their
// object again when it is deleted. The publisher also restores its data.
//
// They follow pkg/controller/serviceaccount/serviceaccounts_controller.go and
// pkg/controller/certificates/rootcacertpublisher/publisher.go of Kubernetes 1.37. A world has them
// if its scenario passes them to w.Builtin before the namespaces are created; operators that count
// or prune ConfigMaps or ServiceAccounts meet these objects in every real cluster. The certificate
// is the same in every run, and no server of the world uses it.
func Content() []actor.Actor {
	return []actor.Actor{
		&filler{name: "serviceaccount-controller", resource: "serviceaccounts", object: "default", fill: createAccount},
		&filler{name: "root-ca-certificate-publisher-controller", resource: "configmaps", object: rootCAName,
			updates: true, fill: publish},
	}
}

// filler keeps one object in each namespace.
type filler struct {
	name, resource, object string
	updates                bool // it also handles updates of the object
	// fill creates the object at path, or restores it.
	fill func(c actor.Cluster, namespace, path string) error

	cluster  actor.Cluster
	queued   map[string]bool
	failures map[string]int
}

// Name implements [actor.Actor].
func (f *filler) Name() string { return f.name }

// Begin implements [actor.Actor].
func (f *filler) Begin(cluster actor.Cluster) {
	f.cluster, f.queued, f.failures = cluster, map[string]bool{}, map[string]int{}
	all, err := actor.List[metav1.PartialObjectMetadata](cluster, actor.Path("", "v1", "", "namespaces", ""))
	if err != nil {
		panic("namespace: namespaces cannot be listed: " + err.Error())
	}
	for i := range all {
		f.enqueue(all[i].Name)
	}
}

// Observe implements [actor.Actor].
func (f *filler) Observe(ch apiserver.Change) {
	switch {
	case ch.Group != "":
	case ch.Resource == "namespaces" && ch.Type != "DELETED":
		f.enqueue(ch.Name)
	case ch.Resource == f.resource && ch.Name == f.object &&
		(ch.Type == "DELETED" || f.updates && ch.Type == "MODIFIED"):
		f.enqueue(ch.Namespace)
	}
}

func (f *filler) enqueue(namespace string) {
	if !f.queued[namespace] {
		f.queued[namespace] = true
		f.cluster.After(0, namespace, func() { f.step(namespace) })
	}
}

// step handles one namespace, and retries what could not be written.
func (f *filler) step(namespace string) {
	f.queued[namespace] = false
	err := f.fill(f.cluster, namespace, actor.Path("", "v1", namespace, f.resource, f.object))
	if err == nil || apierrors.IsNotFound(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		delete(f.failures, namespace)
		return
	}
	f.cluster.Again(min(first<<min(f.failures[namespace], 20), maxRetry), namespace, func() { f.step(namespace) })
	f.failures[namespace]++
}

func createAccount(c actor.Cluster, namespace, path string) error {
	var ns corev1.Namespace
	if !actor.Get(c, actor.Path("", "v1", "", "namespaces", namespace), &ns) ||
		ns.Status.Phase != corev1.NamespaceActive ||
		actor.Get(c, path, &corev1.ServiceAccount{}) {
		return nil
	}
	return actor.Do(c, http.MethodPost, actor.Path("", "v1", namespace, "serviceaccounts", ""),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, nil)
}

func publish(c actor.Cluster, namespace, path string) error {
	var cm corev1.ConfigMap
	data := map[string]string{"ca.crt": rootCA}
	if !actor.Get(c, path, &cm) {
		return actor.Do(c, http.MethodPost, actor.Path("", "v1", namespace, "configmaps", ""), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name: rootCAName, Annotations: map[string]string{descriptionAnnotation: description},
			},
			Data: data}, nil)
	}
	if maps.Equal(cm.Data, data) && cm.Annotations[descriptionAnnotation] != "" {
		return nil
	}
	cm.Data = data
	metav1.SetMetaDataAnnotation(&cm.ObjectMeta, descriptionAnnotation, description)
	return actor.Do(c, http.MethodPut, path, &cm, nil)
}
