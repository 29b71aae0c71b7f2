// This file holds the reconciler-manager: what it makes for each RepoSync.

package reposync

import (
	"context"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// Manager makes a reconciler for each RepoSync and removes it again. It has the rights for that in
// every namespace, and in V10 for all that reconcilers manage. Fill in the exported fields and call
// SetupWithManager.
type Manager struct {
	// Variant is the policy; the zero value is the fixed one, V10.
	Variant Variant
	// Root is set for RootSyncs. An operator runs one manager for them and one for RepoSyncs.
	Root bool

	policy policy
	writer
}

// ManagerOptions returns the options that the manager needs: ConfigMaps are not read from the
// cache, and watched in the system namespace only.
func ManagerOptions(o ctrl.Options) ctrl.Options {
	o.Client.Cache = &client.CacheOptions{DisableFor: []client.Object{&corev1.ConfigMap{}}}
	o.Cache.ByObject = maps.Clone(o.Cache.ByObject)
	if o.Cache.ByObject == nil {
		o.Cache.ByObject = map[client.Object]cache.ByObject{}
	}
	o.Cache.ByObject[&corev1.ConfigMap{}] = cache.ByObject{Namespaces: map[string]cache.Config{Namespace: {}}}
	return o
}

// SetupWithManager registers the manager's controller.
func (m *Manager) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if m.policy, err = m.Variant.policy(); err != nil {
		return err
	}
	m.writer = writer{mgr.GetClient(), mgr.GetAPIReader(), m.policy.patches}
	mine := handler.EnqueueRequestsFromMapFunc(m.owner)
	b := ctrl.NewControllerManagedBy(mgr)
	if m.Root {
		b = b.Named("root-reconciler-manager").For(&v1beta1.RootSync{})
	} else {
		b = b.Named("reconciler-manager").For(&v1beta1.RepoSync{})
	}
	b = b.Watches(&appsv1.Deployment{}, mine).
		Watches(&corev1.ServiceAccount{}, mine).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(m.users))
	if m.policy.ahead {
		b = b.Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(m.inhabitants))
	}
	if m.policy.minds {
		b = b.Watches(&corev1.ConfigMap{}, mine)
	}
	if m.Root || m.policy.clusterWide {
		return b.Watches(&rbacv1.ClusterRoleBinding{}, handler.EnqueueRequestsFromMapFunc(m.granted)).Complete(m)
	}
	return b.Watches(&rbacv1.RoleBinding{}, handler.EnqueueRequestsFromMapFunc(m.granted)).Complete(m)
}

// owner is the sync for which an object was made.
func (m *Manager) owner(_ context.Context, o client.Object) []reconcile.Request {
	if sync, ok := syncOf(o); ok && isRoot(sync) == m.Root {
		return []reconcile.Request{{NamespacedName: sync}}
	}
	return nil
}

// granted are the syncs whose reconcilers have their rights by a binding.
func (m *Manager) granted(ctx context.Context, o client.Object) []reconcile.Request {
	if o.GetName() != m.policy.binding(m.Root, "").GetName() {
		return nil
	}
	return m.inNamespace(ctx, o.GetNamespace(), func(v1beta1.Sync) bool { return true })
}

// users are the syncs for which a Secret was copied, or is to be.
func (m *Manager) users(ctx context.Context, o client.Object) []reconcile.Request {
	if _, ok := syncOf(o); ok {
		return m.owner(ctx, o)
	}
	return m.inNamespace(ctx, o.GetNamespace(), func(s v1beta1.Sync) bool { return secretOf(s) == o.GetName() })
}

func (m *Manager) inNamespace(ctx context.Context, name string, which func(v1beta1.Sync) bool) []reconcile.Request {
	var out []reconcile.Request
	var all client.ObjectList = &v1beta1.RepoSyncList{}
	if m.Root {
		all = &v1beta1.RootSyncList{}
	}
	if err := m.client.List(ctx, all, client.InNamespace(name)); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "syncs cannot be listed")
	}
	_ = apimeta.EachListItem(all, func(o runtime.Object) error { // it is a list
		if s := o.(v1beta1.Sync); which(s) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s)})
		}
		return nil
	})
	return out
}

// secretOf returns the name of the Secret that has to be copied for a sync. That of a RootSync is
// in the right namespace already.
func secretOf(s v1beta1.Sync) string {
	if s.GetNamespace() == Namespace || s.Wants().Git == nil {
		return ""
	}
	return s.Wants().Git.SecretRef.Name
}

// Reconcile brings the reconciler of a sync about, or takes it away.
func (m *Manager) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	sync := newSync(req.NamespacedName)
	if err := m.client.Get(ctx, req.NamespacedName, sync); apierrors.IsNotFound(err) {
		return m.bereft(ctx, req.NamespacedName) // our finalizer should have seen to it
	} else if err != nil {
		return ctrl.Result{}, err
	}
	if !sync.GetDeletionTimestamp().IsZero() {
		if !controllerutil.ContainsFinalizer(sync, v1beta1.ReconcilerManagerFinalizer) {
			return ctrl.Result{}, nil
		}
		return m.finalize(ctx, sync)
	}
	if controllerutil.AddFinalizer(sync, v1beta1.ReconcilerManagerFinalizer) {
		if err := m.client.Update(ctx, sync); err != nil {
			return ctrl.Result{}, err
		}
	}
	if m.policy.ahead {
		if going, err := m.keepNamespace(ctx, sync); err != nil || going {
			return ctrl.Result{}, err
		}
	}
	if err := m.upsert(ctx, sync); err != nil {
		_ = m.say(ctx, sync, is(v1beta1.Stalled, "Failed", err.Error())) // the error is what counts
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, m.say(ctx, sync, not(v1beta1.Stalled),
		metav1.Condition{Type: v1beta1.Reconciling, Status: metav1.ConditionFalse, Reason: "Reconciled"})
}

// upsert makes what a reconciler needs, and the reconciler last.
func (m *Manager) upsert(ctx context.Context, sync v1beta1.Sync) error {
	key := client.ObjectKeyFromObject(sync)
	if name := secretOf(sync); name != "" {
		if err := m.copySecret(ctx, key, name); err != nil {
			return fmt.Errorf("the Secret: %w", err)
		}
	}
	none := func() error { return nil }
	if err := m.ensure(ctx, "ServiceAccount", &corev1.ServiceAccount{ObjectMeta: in(key, "")}, none); err != nil {
		return err
	}
	b := m.policy.binding(m.Root, sync.GetNamespace())
	admit := func() error { return b.admit(subject(key), m.policy.keepsBinding) }
	if err := m.ensure(ctx, "RoleBinding", b.Object, admit); err != nil {
		return err
	}
	settings := &corev1.ConfigMap{ObjectMeta: in(key, "-git-sync")}
	if err := m.ensure(ctx, "ConfigMap", settings, func() error {
		if g := sync.Wants().Git; g != nil {
			settings.Data = map[string]string{"GIT_SYNC_REPO": g.Repo, "GIT_SYNC_REV": g.Revision}
		}
		return nil
	}); err != nil {
		return err
	}
	deployment := &appsv1.Deployment{ObjectMeta: in(key, "")}
	return m.ensure(ctx, "Deployment", deployment, func() error { run(deployment); return nil })
}

func (m *Manager) ensure(ctx context.Context, kind string, o client.Object, change func() error) error {
	if _, err := controllerutil.CreateOrUpdate(ctx, m.client, o, change); err != nil {
		return fmt.Errorf("the %s: %w", kind, err)
	}
	return nil
}

func run(d *appsv1.Deployment) {
	labels := map[string]string{"configsync.gke.io/reconciler": d.Name}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.ServiceAccountName = d.Name
	if len(d.Spec.Template.Spec.Containers) == 0 {
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "reconciler", Image: "example.com/reconciler"}}
	}
}

func (m *Manager) copySecret(ctx context.Context, sync types.NamespacedName, name string) error {
	original := &corev1.Secret{}
	if err := m.client.Get(ctx, types.NamespacedName{Namespace: sync.Namespace, Name: name}, original); err != nil {
		return err
	}
	dup := &corev1.Secret{ObjectMeta: in(sync, "-"+name)}
	_, err := controllerutil.CreateOrUpdate(ctx, m.client, dup, func() error {
		dup.Type, dup.Data = original.Type, original.Data
		return nil
	})
	return err
}

func subject(sync types.NamespacedName) rbacv1.Subject {
	return rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: ReconcilerName(sync)}
}

// binding gives reconcilers their rights: a RoleBinding or a ClusterRoleBinding.
type binding struct {
	client.Object
	subjects *[]rbacv1.Subject
	role     *rbacv1.RoleRef
	grants   string // the ClusterRole
}

// binding is the one that serves RootSyncs, or the RepoSyncs of a namespace, empty as yet.
func (p *policy) binding(root bool, namespace string) binding {
	if root {
		b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: RootBindingName}}
		return binding{b, &b.Subjects, &b.RoleRef, "cluster-admin"}
	}
	if p.clusterWide {
		b := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: BindingName}}
		return binding{b, &b.Subjects, &b.RoleRef, BindingName}
	}
	b := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: BindingName}}
	return binding{b, &b.Subjects, &b.RoleRef, BindingName}
}

// admit adds a subject, and the finalizer of a variant that holds bindings.
func (b binding) admit(s rbacv1.Subject, hold bool) error {
	if !slices.Contains(*b.subjects, s) {
		*b.subjects = append(*b.subjects, s)
	}
	*b.role = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.grants}
	if hold && b.GetDeletionTimestamp().IsZero() {
		controllerutil.AddFinalizer(b, v1beta1.ReconcilerManagerFinalizer)
	}
	return nil
}
