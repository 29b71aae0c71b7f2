// This file makes the world of a run: the operator, RepoSyncs, and what users do with them.

package reposync

import (
	"context"
	"fmt"
	"strings"
	"time"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/controllers/reposync"
	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
	"github.com/wavetank/wavetank/models/namespace"
	"github.com/wavetank/wavetank/scenarios/internal/worlds"
	"github.com/wavetank/wavetank/sim"
)

// Names of the processes beside the reconcilers, which are called as their Deployments.
const (
	Manager = "reconciler-manager"
	Webhook = "admission-webhook"
)

// hold is the finalizer of another controller.
const hold = "example.com/hold"

// Setting is how one world differs from another.
type Setting struct {
	// Syncs are the RepoSyncs; shop/repo-sync if there are none.
	Syncs []types.NamespacedName
	// Chain is how many of the managed objects depend on the next one: none, one, or two.
	Chain int
	// Held puts another controller's finalizer on the first managed object of shop/repo-sync.
	Held bool
	// Forever has it stay there: nothing settles then.
	Forever bool
	// Orphans leaves managed objects behind when a RepoSync is deleted.
	Orphans bool
	// Inside gives reconcilers their rights to what they manage by a RoleBinding in the namespace,
	// on which the RepoSync says that it depends. Otherwise they have them by a ClusterRoleBinding.
	Inside bool
	// Stray has the first managed object of shop/repo-sync depend on one that a user has made,
	// which nobody manages.
	Stray bool
	// Root is what a RootSync declares, if there is one.
	Root declaration
	// Ignore lets deletions pass while nobody answers at the webhook. Otherwise they fail.
	Ignore bool
	// Unserved has repositories declare something of a kind that nobody serves, too; Circular has
	// RepoSyncs say that they depend on the first object that they manage, and the last one of
	// those on the first.
	Unserved, Circular bool
	// Order is the one in which the namespace controller deletes types, the others after these; see
	// namespace.InOrder.
	Order []string
	// Lingers is how long a reconciler goes on when its Deployment has gone.
	Lingers time.Duration
	// Late has noLeaks judged at the end only, because the manager's work fails.
	Late bool
	// Pace is how long the namespace controller takes for each of its steps; as good as no time
	// if 0.
	Pace time.Duration
}

// shop is the RepoSync that most cases are about, and root the RootSync of those that have one.
var (
	shop = types.NamespacedName{Namespace: "shop", Name: "repo-sync"}
	root = types.NamespacedName{Namespace: reposync.Namespace, Name: "root-sync"}
)

// declaration is what a RootSync declares.
type declaration string

const (
	// allForShop is what a user would create: shop/repo-sync, its namespace and what it needs, with
	// the rights to what it manages by a RoleBinding in the namespace.
	allForShop declaration = "all for shop"
	// oneForEach is a ConfigMap for every namespace of the team.
	oneForEach declaration = "one for each"
)

// World is a world with the operator in it.
type World struct {
	*sim.World
	*Record
	setting Setting
	pods    *pods
}

// Begin starts the operator, and lets it sync everything once.
func Begin(w *sim.World, v reposync.Variant, s Setting) *World {
	if len(s.Syncs) == 0 {
		s.Syncs = []types.NamespacedName{shop}
	}
	world := &World{World: w, Record: NewRecord(s), setting: s, pods: newPods(s.Lingers)}
	w.Without("no stuck finalizer") // the cases have properties for that
	if v != reposync.V10 || s.Forever {
		w.Without("settles") // a reconciler without rights asks for ever
	}
	w.Install(s.kinds())
	order := namespace.InOrder(s.Order...)
	w.Builtin(worlds.Slow(namespace.New(namespace.AnyOrder(), order), "pass ", s.Pace), world.pods)
	w.Apply(worlds.Namespace(reposync.Namespace), reposync.ReconcilerRole())
	world.run(Manager, reposync.ManagerOptions(ctrl.Options{Scheme: scheme}), func(mgr ctrl.Manager) error {
		if s.Root != "" {
			if err := (&reposync.RootManager{Variant: v}).SetupWithManager(mgr); err != nil {
				return err
			}
		}
		return (&reposync.Manager{Variant: v}).SetupWithManager(mgr)
	})
	world.pods.set(Manager, func(p *pod) { p.deployed = true })
	for _, sync := range s.Syncs {
		world.Reconciler(v, sync)
	}
	if s.Root != "" {
		world.Reconciler(v, root)
		w.Apply(s.repoSync(root))
	}
	for _, sync := range s.Syncs {
		if s.Root != allForShop {
			world.Sync(sync)
		}
	}
	world.guard(v)
	w.Settle()
	return world
}

// kinds are those of the operator. A cluster in which nobody has a RootSync does without that kind,
// whose place among the types of a namespace would be one more to try.
func (s Setting) kinds() (out []*apiextensionsv1.CustomResourceDefinition) {
	for _, crd := range crds {
		if s.Root != "" || crd.Spec.Names.Kind != "RootSync" {
			out = append(out, crd)
		}
	}
	return out
}

// run adds a process that works while its pod is there.
func (s *World) run(name string, o ctrl.Options, setup func(ctrl.Manager) error, opts ...sim.ProcessOption) {
	s.Run(name, func(ctx context.Context, cfg *rest.Config) error {
		return s.pods.run(ctx, name, func(ctx context.Context) error {
			mgr, err := sim.NewManager(cfg, o)
			if err != nil {
				return err
			}
			if err := setup(mgr); err != nil {
				return err
			}
			return mgr.Start(ctx)
		})
	}, opts...)
}

// Reconciler adds the process of a sync's reconciler.
func (s *World) Reconciler(v reposync.Variant, sync types.NamespacedName) {
	name := reposync.ReconcilerName(sync)
	o := ctrl.Options{Scheme: scheme,
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{sync.Namespace: {}}}}
	s.run(name, o, func(mgr ctrl.Manager) error {
		return (&reposync.Reconciler{Sync: sync, Variant: v, Source: s.source}).SetupWithManager(mgr)
	}, sim.As(reposync.Namespace+"/"+name))
}

// guard adds the webhook, if the variant has one.
func (s *World) guard(v reposync.Variant) {
	policy := admissionregv1.Fail
	if s.setting.Ignore {
		policy = admissionregv1.Ignore
	}
	config, err := (&reposync.Guard{Variant: v}).Configuration(policy)
	if err != nil {
		panic(err)
	}
	if config == nil {
		return
	}
	s.run(Webhook, ctrl.Options{Scheme: scheme}, (&reposync.Guard{Variant: v}).SetupWithManager)
	s.pods.set(Webhook, func(p *pod) { p.deployed = true })
	s.Settle() // it serves before it is asked
	s.Apply(config)
}

// What all runs share, made once: as in an operator's main, and because it takes longer than a run.
var (
	crds   = reposync.CRDs()
	scheme = worlds.Scheme(v1beta1.AddToScheme)
)

// team is the label by which a RootSync finds the namespaces of the team.
const team = "example.com/team"

// Sync has a user create a RepoSync with all that it needs.
func (s *World) Sync(sync types.NamespacedName) { s.Apply(s.setting.needed(sync)...) }

// needed is a RepoSync and all that it needs.
func (s Setting) needed(sync types.NamespacedName) []client.Object {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: sync.Namespace, Name: name} }
	home := worlds.Namespace(sync.Namespace)
	if s.Root == oneForEach {
		home.Labels = map[string]string{team: "shop"}
	}
	role := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"}
	name := reposync.ReconcilerName(sync)
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: reposync.Namespace, Name: name}}
	cluster := metav1.ObjectMeta{Name: name}
	var rights client.Object = &rbacv1.ClusterRoleBinding{ObjectMeta: cluster, RoleRef: role, Subjects: subjects}
	if s.Inside || s.Root == allForShop {
		rights = &rbacv1.RoleBinding{ObjectMeta: meta("syncs-repo"), RoleRef: role, Subjects: subjects}
	}
	secret := &corev1.Secret{ObjectMeta: meta("git-creds"), StringData: map[string]string{"token": "t"}}
	needed := []client.Object{home, secret, rights}
	if s.Stray {
		needed = append(needed, &corev1.Secret{ObjectMeta: meta(stray.Name)})
	}
	return append(needed, s.repoSync(sync))
}

// repoSync is a RepoSync, or the RootSync, as a user's file has it.
func (s Setting) repoSync(sync types.NamespacedName) *unstructured.Unstructured {
	meta := metav1.ObjectMeta{Namespace: sync.Namespace, Name: sync.Name, Annotations: map[string]string{}}
	spec := v1beta1.SyncSpec{SourceFormat: "unstructured", SourceType: "git", Git: &v1beta1.Git{
		Repo: "https://git.example/" + sync.Namespace, Auth: "token", SecretRef: v1beta1.SecretRef{Name: "git-creds"},
	}}
	if !s.Orphans {
		meta.Annotations[v1beta1.DeletionPropagationPolicy] = v1beta1.Foreground
	}
	if sync == root {
		return file(&v1beta1.RootSync{ObjectMeta: meta, Spec: spec}, v1beta1.GroupVersion.WithKind("RootSync"))
	}
	if s.Inside {
		meta.Annotations[reposync.DependsOn] = "rbac.authorization.k8s.io/namespaces/" + sync.Namespace +
			"/RoleBinding/syncs-repo"
	}
	if s.Circular {
		meta.Annotations[reposync.DependsOn] = needs(managed(sync)[0])
	}
	return file(&v1beta1.RepoSync{ObjectMeta: meta, Spec: spec}, v1beta1.GroupVersion.WithKind("RepoSync"))
}

// file is an object as a file has it, in which nobody has written a status.
func file(o client.Object, kind schema.GroupVersionKind) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		panic(err)
	}
	delete(fields, "status")
	f := &unstructured.Unstructured{Object: fields}
	f.SetGroupVersionKind(kind)
	return f
}

// Unhold has the other controller take its finalizer off.
func (s *World) Unhold() {
	ref := managed(shop)[0]
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ref.Namespace, Name: ref.Name}}
	err := s.Client().Patch(s.Context(), o,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
	if client.IgnoreNotFound(err) != nil {
		panic(fmt.Sprintf("releasing %s: %v", ref, err))
	}
}

// patience is how long a user who was refused waits for what is to go first, and period how often
// that user looks.
const patience, period = time.Minute, 5 * time.Second

// DeleteNamespace has a user delete a namespace. One who is told that a RepoSync must go first
// deletes that, and tries again for a while.
func (s *World) DeleteNamespace(name string) {
	s.wants(name, s.History().Now())
	if s.refused(name) {
		for _, sync := range s.setting.Syncs {
			if sync.Namespace == name {
				s.DeleteSync(sync)
			}
		}
		s.insist(name)
	}
}

// insist tries again for a while to delete a namespace.
func (s *World) insist(name string) {
	for waited := time.Duration(0); waited < patience && s.refused(name); waited += period {
		s.Sleep(period)
	}
}

// refused says that the namespace may not be deleted yet.
func (s *World) refused(name string) bool {
	err := s.remove(worlds.Namespace(name))
	if err != nil && !strings.Contains(err.Error(), "delete that first") {
		panic(fmt.Sprintf("deleting namespace %s: %v", name, err))
	}
	return err != nil
}

// DeleteSync has a user delete a RepoSync, or the RootSync.
func (s *World) DeleteSync(sync types.NamespacedName) {
	if err := s.remove(s.setting.repoSync(sync)); err != nil {
		panic(fmt.Sprintf("deleting %s: %v", sync, err))
	}
}

// remove deletes an object, again while the server or the webhook fails.
func (s *World) remove(o client.Object) error {
	for {
		err := client.IgnoreNotFound(s.Client().Delete(s.Context(), o))
		if err == nil || !apierrors.IsInternalError(err) {
			return err
		}
		s.Sleep(5 * time.Second)
	}
}

// theEnd is an object that nobody looks at. Properties that measure time judge by the time of the
// last event.
func (s *World) theEnd() {
	s.Apply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: theEnd}})
}

const theEnd = "the-end"
