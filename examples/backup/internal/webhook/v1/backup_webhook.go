// Package v1 has the operator's webhook.
package v1

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "example.com/backup/api/v1"
)

// SetupBackupWebhookWithManager registers the webhook.
func SetupBackupWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &v1.Backup{}).WithValidator(&validator{}).Complete()
}

// validator keeps a backup in its bucket.
type validator struct{}

func (*validator) ValidateCreate(context.Context, *v1.Backup) (admission.Warnings, error) {
	return nil, nil
}

func (*validator) ValidateUpdate(_ context.Context, old, b *v1.Backup) (admission.Warnings, error) {
	if old.Spec.Bucket != "" && old.Spec.Bucket != b.Spec.Bucket {
		return nil, errors.New("a backup does not move to another bucket")
	}
	return nil, nil
}

func (*validator) ValidateDelete(context.Context, *v1.Backup) (admission.Warnings, error) {
	return nil, nil
}
