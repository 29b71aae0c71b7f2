package upstream

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/volume/pvcprotection"
	"k8s.io/kubernetes/pkg/controller/volume/pvprotection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/wavetank/wavetank/sim"
)

// claimProtection is newPersistentVolumeClaimProtectionController of core.go.
func claimProtection(ctx context.Context, cfg *rest.Config) error {
	c, err := connect(cfg)
	if err != nil {
		return err
	}
	p, err := pvcprotection.NewPVCProtectionController(klog.FromContext(ctx),
		c.typed.Core().V1().PersistentVolumeClaims(), c.typed.Core().V1().Pods(), c.client)
	if err != nil {
		return err
	}
	defer c.start(ctx)()
	p.Run(ctx, 1)
	return nil
}

// volumeProtection is newPersistentVolumeProtectionController of core.go.
func volumeProtection(ctx context.Context, cfg *rest.Config) error {
	c, err := connect(cfg)
	if err != nil {
		return err
	}
	p, err := pvprotection.NewPVProtectionController(klog.FromContext(ctx), c.typed.Core().V1().PersistentVolumes(),
		c.client)
	if err != nil {
		return err
	}
	defer c.start(ctx)()
	p.Run(ctx, 1)
	return nil
}

// TestProtection compares claims and volumes that are deleted, unused and in use. No claim is bound
// here: for a bound one a real controller also reports since when it is unused.
func TestProtection(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: in("default", "data"), Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}
	pod := func(node string, source corev1.VolumeSource) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: in("default", "db"),
			Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{Name: "db", Image: "db"}},
				Volumes: []corev1.Volume{{Name: "data", VolumeSource: source}}}}
	}
	uses := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "disk"}, Spec: corev1.PersistentVolumeSpec{
		Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes,
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: "/disk"}}}}
	remove := func(w *sim.World, o client.Object, opts ...client.DeleteOption) {
		must(w.Client().Delete(w.Context(), o.DeepCopyObject().(client.Object), opts...))
		w.Sleep(let)
	}
	phase := func(w *sim.World, p corev1.PersistentVolumePhase) {
		v := volume.DeepCopy()
		must(w.Client().Get(w.Context(), client.ObjectKeyFromObject(v), v))
		v.Status.Phase = p
		must(w.Client().Status().Update(w.Context(), v))
		w.Sleep(let)
	}
	now := client.GracePeriodSeconds(0)
	for name, scenario := range map[string]func(*sim.World){
		"a claim that is not in use": func(w *sim.World) {
			w.Apply(claim)
			remove(w, claim)
		},
		"a claim that a pod uses": func(w *sim.World) {
			p := pod("a", uses)
			w.Apply(claim, p)
			remove(w, claim)
			remove(w, p, now)
		},
		"a claim that a pod waits for": func(w *sim.World) {
			w.Apply(claim, pod("", uses))
			remove(w, claim)
		},
		"a claim that a pod of the past uses": func(w *sim.World) {
			p := pod("a", uses)
			w.Apply(claim, p)
			p = p.DeepCopy()
			must(w.Client().Get(w.Context(), client.ObjectKeyFromObject(p), p))
			p.Status.Phase = corev1.PodSucceeded
			must(w.Client().Status().Update(w.Context(), p))
			remove(w, claim)
		},
		"a claim of an ephemeral volume": func(w *sim.World) {
			template := &corev1.PersistentVolumeClaimTemplate{Spec: claim.Spec}
			ephemeral := &corev1.EphemeralVolumeSource{VolumeClaimTemplate: template}
			p := pod("a", corev1.VolumeSource{Ephemeral: ephemeral})
			w.Apply(p)
			must(w.Client().Get(w.Context(), client.ObjectKeyFromObject(p), p))
			own := claim.DeepCopy()
			own.Name, own.OwnerReferences = "db-data",
				[]metav1.OwnerReference{*metav1.NewControllerRef(p, corev1.SchemeGroupVersion.WithKind("Pod"))}
			w.Apply(own)
			remove(w, own)
			remove(w, p, now)
		},
		"a claim without its finalizer": func(w *sim.World) {
			w.Apply(claim)
			bare := claim.DeepCopy()
			must(w.Client().Get(w.Context(), client.ObjectKeyFromObject(bare), bare))
			bare.Finalizers = nil
			must(w.Client().Update(w.Context(), bare))
			w.Sleep(let)
		},
		"a volume that is bound, and then released": func(w *sim.World) {
			w.Apply(volume)
			phase(w, corev1.VolumeBound)
			remove(w, volume)
			phase(w, corev1.VolumeReleased)
		},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, []controller{
				{"pvc-protection-controller", func(w *sim.World, name string) { w.Run(name, claimProtection) }},
				{"pv-protection-controller", func(w *sim.World, name string) { w.Run(name, volumeProtection) }},
			}, func(w *sim.World) {
				w.Without("no stuck finalizer") // who is in use is to stay
				scenario(w)
				w.Sleep(time.Minute)
			})
		})
	}
}
