// This file holds the webhook of the variants that enforce an order on all deletions.

package reposync

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	admissionregv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/wavetank/wavetank/controllers/reposync/v1beta1"
)

// Guard refuses deletions by admission. Fill in the exported field and call SetupWithManager; its
// configuration is [Guard.Configuration].
type Guard struct {
	// Variant is the policy; the zero value is the fixed one, V10.
	Variant Variant

	policy policy
	client client.Client // for objects without a Go type, which are not cached
	live   client.Reader // for the others
}

// refusal says why an object must not be deleted now; "" if it may.
type refusal func(context.Context, *Guard, *unstructured.Unstructured) (because string, err error)

type configuration = admissionregv1.ValidatingWebhookConfiguration

const guardPath = "/deletions"

// SetupWithManager registers the webhook.
func (g *Guard) SetupWithManager(mgr ctrl.Manager) error {
	var err error
	if g.policy, err = g.Variant.policy(); err != nil {
		return err
	}
	g.client, g.live = mgr.GetClient(), mgr.GetAPIReader()
	mgr.GetWebhookServer().Register(guardPath, &webhook.Admission{Handler: admission.HandlerFunc(g.handle)})
	return nil
}

func (g *Guard) handle(ctx context.Context, req admission.Request) admission.Response {
	o := &unstructured.Unstructured{}
	if err := o.UnmarshalJSON(req.OldObject.Raw); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if o.GetDeletionTimestamp() != nil {
		return admission.Allowed("it is being deleted already")
	}
	for _, refuses := range g.policy.refuses {
		because, err := refuses(ctx, g, o)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if because != "" {
			return admission.Denied(because)
		}
	}
	return admission.Allowed("")
}

// inhabited: a namespace is not deleted while a RepoSync is in it.
func inhabited(ctx context.Context, g *Guard, o *unstructured.Unstructured) (string, error) {
	if o.GetKind() != "Namespace" {
		return "", nil
	}
	var all v1beta1.RepoSyncList
	if err := g.live.List(ctx, &all, client.InNamespace(o.GetName())); err != nil || len(all.Items) == 0 {
		return "", err
	}
	return fmt.Sprintf("RepoSync %s/%s is in it: delete that first", o.GetName(), all.Items[0].Name), nil
}

// bindingInUse: the RoleBinding is not deleted while a reconciler needs it.
func bindingInUse(ctx context.Context, g *Guard, o *unstructured.Unstructured) (string, error) {
	if o.GetKind() != "RoleBinding" || o.GetName() != BindingName {
		return "", nil
	}
	var all appsv1.DeploymentList
	err := g.live.List(ctx, &all, client.InNamespace(Namespace),
		client.MatchingLabels{SyncNamespaceLabel: o.GetNamespace()})
	if err != nil || len(all.Items) == 0 {
		return "", err
	}
	return fmt.Sprintf("Deployment %s/%s needs it", Namespace, all.Items[0].Name), nil
}

// inventoryInUse: an inventory is not deleted while anything that it lists exists.
func inventoryInUse(ctx context.Context, g *Guard, o *unstructured.Unstructured) (string, error) {
	if o.GroupVersionKind().GroupKind() != inventoryKind.GroupKind() {
		return "", nil
	}
	all, err := present(ctx, g.client, o)
	if err != nil || len(all) == 0 {
		return "", err
	}
	return fmt.Sprintf("%s is in it", all[0].object), nil
}

// dependedOn: no object is deleted while a managed object, or a RepoSync, that says that it depends
// on it exists.
func dependedOn(ctx context.Context, g *Guard, o *unstructured.Unstructured) (string, error) {
	if o.GetNamespace() == "" || o.GroupVersionKind().GroupKind() == inventoryKind.GroupKind() {
		return "", nil
	}
	self := refTo(o, o.GroupVersionKind().GroupKind())
	var syncs v1beta1.RepoSyncList
	if err := g.live.List(ctx, &syncs, client.InNamespace(o.GetNamespace())); err != nil {
		return "", err
	}
	for i := range syncs.Items {
		for _, need := range needs(&syncs.Items[i]) {
			if need != self {
				continue
			}
			if own, err := manages(ctx, g.client, &syncs.Items[i], self); err != nil {
				return "", err
			} else if !own {
				return fmt.Sprintf("RepoSync %s/%s depends on it", syncs.Items[i].Namespace, syncs.Items[i].Name), nil
			}
		}
	}
	inventories := &unstructured.UnstructuredList{}
	inventories.SetGroupVersionKind(inventoryKind)
	if err := g.client.List(ctx, inventories, client.InNamespace(o.GetNamespace())); err != nil {
		return "", err
	}
	for i := range inventories.Items {
		all, err := present(ctx, g.client, &inventories.Items[i])
		if err != nil {
			return "", err
		}
		if on := dependents(all, self); len(on) > 0 {
			return fmt.Sprintf("%s depends on it", on[0].object), nil
		}
	}
	return "", nil
}

// manages reports whether a sync manages an object. Then it cannot go before that, whatever it says
// that it depends on.
func manages(ctx context.Context, c client.Client, sync *v1beta1.RepoSync, o object) (bool, error) {
	inv := newInventory(client.ObjectKeyFromObject(sync))
	if err := c.Get(ctx, client.ObjectKeyFromObject(sync), inv); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	all, err := contents(inv)
	return slices.Contains(all, o), err
}

// Configuration is the webhook's, to be reached through a Service called "admission-webhook"; nil
// if the variant has none. It is asked about deletions outside the system namespace.
func (g *Guard) Configuration(policy admissionregv1.FailurePolicyType) (*configuration, error) {
	p, err := g.Variant.policy()
	if err != nil || len(p.refuses) == 0 {
		return nil, err
	}
	return &configuration{
		ObjectMeta: metav1.ObjectMeta{Name: "admission-webhook.configsync.gke.io"},
		Webhooks: []admissionregv1.ValidatingWebhook{{
			Name: "deletions.configsync.gke.io",
			ClientConfig: admissionregv1.WebhookClientConfig{Service: &admissionregv1.ServiceReference{
				Namespace: Namespace, Name: "admission-webhook", Path: ptr.To(guardPath),
			}},
			Rules: []admissionregv1.RuleWithOperations{{
				Operations: []admissionregv1.OperationType{admissionregv1.Delete},
				Rule: admissionregv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"},
					Resources: []string{"*"}},
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpNotIn, Values: []string{Namespace},
			}}},
			FailurePolicy: &policy, SideEffects: ptr.To(admissionregv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}, nil
}
