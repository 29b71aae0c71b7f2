package heavy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Machine is one of many small objects.
type Machine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              MachineSpec   `json:"spec,omitempty"`
	Status            MachineStatus `json:"status,omitempty"`
}

// MachineSpec is what a user wants.
type MachineSpec struct {
	Image      string `json:"image,omitempty"`
	ProviderID string `json:"providerID,omitempty"` // set by the controller
}

// MachineStatus is what the operator has seen.
type MachineStatus struct {
	Phase      string             `json:"phase,omitempty"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// MachineList is many of them.
type MachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Machine `json:"items"`
}

// DeepCopyInto copies the machine.
func (m *Machine) DeepCopyInto(out *Machine) {
	*out = *m
	m.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = copyConditions(m.Status.Conditions)
}

// DeepCopy copies the machine.
func (m *Machine) DeepCopy() *Machine {
	out := &Machine{}
	m.DeepCopyInto(out)
	return out
}

// DeepCopyObject implements runtime.Object.
func (m *Machine) DeepCopyObject() runtime.Object { return m.DeepCopy() }

// DeepCopyObject implements runtime.Object.
func (m *MachineList) DeepCopyObject() runtime.Object {
	out := *m
	m.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Machine, len(m.Items))
	for i := range m.Items {
		m.Items[i].DeepCopyInto(&out.Items[i])
	}
	return &out
}

const machineFinalizer = "heavy.example/machine"

// steps are the conditions of a machine, in order. Each reconcile makes one of them true.
var steps = []string{"Accepted", "Provisioned", "Bootstrapped", "Joined", "Ready"}

// machines takes each machine through its steps.
type machines struct{ client.Client }

func (r *machines) setup(mgr ctrl.Manager) error {
	r.Client = mgr.GetClient()
	return ctrl.NewControllerManagedBy(mgr).For(&Machine{}).Owns(&corev1.ConfigMap{}).Complete(r)
}

// Reconcile writes through a patch helper when it ends, as operators of Cluster API do.
func (r *machines) Reconcile(ctx context.Context, req ctrl.Request) (result ctrl.Result, err error) {
	var m Machine
	if err := r.Get(ctx, req.NamespacedName, &m); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	helper := &patcher{Client: r.Client, before: m.DeepCopy()}
	defer func() { err = errors.Join(err, helper.patch(ctx, &m)) }()
	if !m.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(&m, machineFinalizer)
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(&m, machineFinalizer) {
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	for i, step := range steps {
		if meta.IsStatusConditionTrue(m.Status.Conditions, step) {
			m.Status.Phase = step
			continue
		}
		if step == "Provisioned" {
			m.Spec.ProviderID = "heavy://" + m.Name
			if err := r.bootstrap(ctx, &m); err != nil {
				return ctrl.Result{}, err
			}
		}
		meta.SetStatusCondition(&m.Status.Conditions, metav1.Condition{Type: step, Status: metav1.ConditionTrue,
			Reason: "Done", Message: fmt.Sprintf("step %d of %d", i+1, len(steps))})
		m.Status.Phase = step
		return ctrl.Result{RequeueAfter: time.Second}, nil
	}
	return ctrl.Result{}, nil
}

// bootstrap makes the data that the machine boots with.
func (r *machines) bootstrap(ctx context.Context, m *Machine) error {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name}}
	_, err := ctrl.CreateOrUpdate(ctx, r.Client, cm, func() error {
		cm.Data = map[string]string{"image": m.Spec.Image}
		return controllerutil.SetControllerReference(m, cm, r.Scheme())
	})
	return err
}

// patcher writes what a reconcile has changed with three patches: of conditions, of spec and
// metadata, and of the rest of the status.
type patcher struct {
	client.Client
	before *Machine
}

func (p *patcher) patch(ctx context.Context, after *Machine) error {
	err := errors.Join(p.patchConditions(ctx, after), p.patchPart(ctx, after, false), p.patchPart(ctx, after, true))
	if !after.DeletionTimestamp.IsZero() && len(after.Finalizers) == 0 {
		return client.IgnoreNotFound(err)
	}
	return err
}

// patchConditions takes the newest state from the cache and tries again when that is too old.
func (p *patcher) patchConditions(ctx context.Context, after *Machine) error {
	if equality.Semantic.DeepEqual(p.before.Status.Conditions, after.Status.Conditions) {
		return nil
	}
	backoff := wait.Backoff{Steps: 5, Duration: 100 * time.Millisecond, Factor: 2}
	return wait.ExponentialBackoff(backoff, func() (bool, error) {
		var latest Machine
		if err := p.Get(ctx, client.ObjectKeyFromObject(after), &latest); err != nil {
			return false, err
		}
		base := latest.DeepCopy()
		for _, c := range after.Status.Conditions {
			meta.SetStatusCondition(&latest.Status.Conditions, c)
		}
		err := p.Status().Patch(ctx, &latest, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// patchPart patches either the status without conditions, or everything else.
func (p *patcher) patchPart(ctx context.Context, after *Machine, status bool) error {
	from, to := p.before.DeepCopy(), after.DeepCopy()
	to.Status.Conditions = from.Status.Conditions
	if status {
		to.ObjectMeta, to.Spec = from.ObjectMeta, from.Spec
	} else {
		to.Status, to.ResourceVersion = from.Status, from.ResourceVersion
	}
	patch := client.MergeFrom(from)
	raw, err := patch.Data(to)
	if err != nil || !json.Valid(raw) || string(raw) == "{}" {
		return err
	}
	if status {
		return p.Status().Patch(ctx, to, patch)
	}
	return p.Patch(ctx, to, patch)
}
