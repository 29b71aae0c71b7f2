// Package certificates finds bugs in an operator that generates keys and certificates. Random bytes
// are in what it stores, in names and in hashes, so a finding replays only if each of them repeats.
package certificates

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// An instance is a ConfigMap with this label; its data names a host.
const instanceLabel = "certificates.example.com/instance"

// hashAnnotation holds the hash of a certificate.
const hashAnnotation = "certificates.example.com/hash"

// issuer is the Secret of the authority that signs, one for each namespace.
const issuer = "issuer"

// reconciler keeps a certificate, two volume claims and a Job for each instance. The Job is named
// after the certificate that it loads.
type reconciler struct {
	client.Client
	reader client.Reader
	fixed  bool // continues with the certificate that is stored, not with the one it has made
}

func (r *reconciler) setup(mgr ctrl.Manager) error {
	r.Client, r.reader = mgr.GetClient(), mgr.GetAPIReader()
	instances := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()[instanceLabel] != "" })
	return ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}, builder.WithPredicates(instances)).
		Owns(&corev1.Secret{}).Owns(&corev1.PersistentVolumeClaim{}).Owns(&batchv1.Job{}).Complete(r)
}

// Reconcile implements reconcile.Reconciler.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var instance corev1.ConfigMap
	if err := r.Get(ctx, req.NamespacedName, &instance); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !instance.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	secret, err := r.certificate(ctx, &instance)
	if err != nil {
		return reconcile.Result{}, err
	}
	hash := hashOf(secret)
	for i := range 2 {
		if err := r.create(ctx, &instance, claim(&instance, i, hash)); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{}, r.create(ctx, &instance, job(&instance, hash))
}

// certificate is the Secret with the certificate of an instance. It is made if the cache has none.
func (r *reconciler) certificate(ctx context.Context, instance *corev1.ConfigMap) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: instance.Namespace, Name: instance.Name + "-tls"}
	var have corev1.Secret
	err := r.Get(ctx, key, &have)
	if err == nil && have.Annotations["host"] == instance.Data["host"] {
		return &have, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	ca, err := r.authority(ctx, instance.Namespace)
	if err != nil {
		return nil, err
	}
	made, err := issue(ca, key.Name, instance.Data["host"])
	if err != nil {
		return nil, err
	}
	made.Namespace = key.Namespace
	if have.UID != "" {
		have.Data, have.Annotations = made.Data, made.Annotations
		return &have, r.Update(ctx, &have)
	}
	err = ctrl.SetControllerReference(instance, made, r.Scheme())
	if err == nil {
		err = r.Create(ctx, made)
	}
	if apierrors.IsAlreadyExists(err) && r.fixed {
		return &have, r.reader.Get(ctx, key, &have)
	}
	return made, client.IgnoreAlreadyExists(err)
}

// authority is the Secret with the key and the certificate of the authority of a namespace.
func (r *reconciler) authority(ctx context.Context, namespace string) (*corev1.Secret, error) {
	key := client.ObjectKey{Namespace: namespace, Name: issuer}
	var have corev1.Secret
	if err := r.reader.Get(ctx, key, &have); !apierrors.IsNotFound(err) {
		return &have, err
	}
	made, err := newAuthority()
	if err != nil {
		return nil, err
	}
	made.Namespace = namespace
	return made, r.Create(ctx, made)
}

// create makes a child unless it exists.
func (r *reconciler) create(ctx context.Context, instance *corev1.ConfigMap, child client.Object) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(child), child)
	if !apierrors.IsNotFound(err) {
		return err
	}
	if err := ctrl.SetControllerReference(instance, child, r.Scheme()); err != nil {
		return err
	}
	return client.IgnoreAlreadyExists(r.Create(ctx, child))
}

// hashOf is the hash of the certificate in a Secret.
func hashOf(s *corev1.Secret) string {
	sum := sha256.Sum256(s.Data[corev1.TLSCertKey])
	return hex.EncodeToString(sum[:8])
}

func claim(instance *corev1.ConfigMap, i int, hash string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: instance.Namespace,
		Name: fmt.Sprintf("%s-data-%d", instance.Name, i), Annotations: map[string]string{hashAnnotation: hash}}}
	c.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	return c
}

func job(instance *corev1.ConfigMap, hash string) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: instance.Namespace,
		Name: fmt.Sprintf("%s-load-%s", instance.Name, hash), Labels: map[string]string{instanceLabel: instance.Name}}}
	j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	j.Spec.Template.Spec.Containers = []corev1.Container{{Name: "load", Image: "load:1"}}
	return j
}
