package heavy

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Fleet is a group of members that are made from one template.
type Fleet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              FleetSpec   `json:"spec,omitempty"`
	Status            FleetStatus `json:"status,omitempty"`
}

// FleetSpec is what a user wants.
type FleetSpec struct {
	Members  int32                  `json:"members,omitempty"`
	Template corev1.PodTemplateSpec `json:"template,omitempty"`
}

// FleetStatus tells of each member what it has reported.
type FleetStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
	Members            []Member           `json:"members,omitempty"`
}

// Member is the report of one member.
type Member struct {
	Name       string             `json:"name"`
	Phase      string             `json:"phase"`
	Since      metav1.Time        `json:"since,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Labels     map[string]string  `json:"labels,omitempty"`
	Volumes    []MemberVolume     `json:"volumes,omitempty"`
}

// MemberVolume is one volume of a member.
type MemberVolume struct {
	Name     string `json:"name"`
	Path     string `json:"path,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
	Blocks   int64  `json:"blocks,omitempty"`
}

// FleetList is many of them.
type FleetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Fleet `json:"items"`
}

// DeepCopyInto copies the fleet.
func (f *Fleet) DeepCopyInto(out *Fleet) {
	*out = *f
	f.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	f.Spec.Template.DeepCopyInto(&out.Spec.Template)
	out.Status.Conditions = copyConditions(f.Status.Conditions)
	out.Status.Members = append([]Member(nil), f.Status.Members...)
	for i := range out.Status.Members {
		m := &out.Status.Members[i]
		m.Conditions = copyConditions(m.Conditions)
		m.Volumes = append([]MemberVolume(nil), m.Volumes...)
		labels := make(map[string]string, len(m.Labels))
		for k, v := range m.Labels {
			labels[k] = v
		}
		m.Labels = labels
	}
}

func copyConditions(in []metav1.Condition) (out []metav1.Condition) {
	for i := range in {
		out = append(out, *in[i].DeepCopy())
	}
	return out
}

// DeepCopy copies the fleet.
func (f *Fleet) DeepCopy() *Fleet {
	out := &Fleet{}
	f.DeepCopyInto(out)
	return out
}

// DeepCopyObject implements runtime.Object.
func (f *Fleet) DeepCopyObject() runtime.Object { return f.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (f *FleetList) DeepCopyObject() runtime.Object {
	out := *f
	f.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Fleet, len(f.Items))
	for i := range f.Items {
		f.Items[i].DeepCopyInto(&out.Items[i])
	}
	return &out
}

// fleets keeps a ConfigMap for each member, and reports on all members in one status.
type fleets struct{ client.Client }

func (r *fleets) setup(mgr ctrl.Manager) error {
	r.Client = mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).For(&Fleet{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

// Reconcile starts one member at a time. It writes the status by Update where members begin, and by
// Patch where they are ready.
func (r *fleets) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var f Fleet
	if err := r.Get(ctx, req.NamespacedName, &f); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !f.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	was := f.DeepCopy()
	f.Status.ObservedGeneration = f.Generation
	for i := range int(f.Spec.Members) {
		if i == len(f.Status.Members) {
			f.Status.Members = append(f.Status.Members, member(i))
			return ctrl.Result{RequeueAfter: time.Second}, r.Status().Update(ctx, &f)
		}
		m := &f.Status.Members[i]
		if err := r.start(ctx, &f, m); err != nil {
			return ctrl.Result{}, err
		}
		if m.Phase != "Ready" {
			m.Phase = "Ready"
			setReady(&m.Conditions, f.Generation)
			break
		}
	}
	if n := int(f.Spec.Members); len(f.Status.Members) >= n {
		f.Status.Members = f.Status.Members[:n]
		setReady(&f.Status.Conditions, f.Generation)
	}
	if equality.Semantic.DeepEqual(was.Status, f.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{RequeueAfter: time.Second}, r.Status().Patch(ctx, &f, client.MergeFrom(was))
}

// start makes the ConfigMap of a member.
func (r *fleets) start(ctx context.Context, f *Fleet, m *Member) error {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name + "-" + m.Name}}
	_, err := ctrl.CreateOrUpdate(ctx, r.Client, cm, func() error {
		cm.Data = map[string]string{"image": f.Spec.Template.Spec.Containers[0].Image}
		return controllerutil.SetControllerReference(f, cm, r.Scheme())
	})
	return err
}

func setReady(conditions *[]metav1.Condition, generation int64) {
	meta.SetStatusCondition(conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue,
		Reason: "Started", ObservedGeneration: generation})
}

// member is the first report of a member, about 3 KiB.
func member(i int) Member {
	m := Member{Name: fmt.Sprintf("member-%d", i), Phase: "Starting", Labels: map[string]string{}}
	for _, kind := range []string{"Ready", "Scheduled", "Initialized", "Connected", "Synced"} {
		meta.SetStatusCondition(&m.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse,
			Reason: "Starting", Message: kind + ": " + strings.Repeat("waiting for it. ", 4)})
	}
	for v := range 20 {
		m.Labels[fmt.Sprintf("heavy.example/label-%d", v)] = m.Name
		m.Volumes = append(m.Volumes, MemberVolume{Name: fmt.Sprintf("volume-%d", v), Blocks: 4096 << v,
			Path: fmt.Sprintf("/var/lib/%s/volume-%d", m.Name, v)})
	}
	return m
}
