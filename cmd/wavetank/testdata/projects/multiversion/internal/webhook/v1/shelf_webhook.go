package v1

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	booksv1 "example.com/library/api/v1"
)

// SetupShelfWebhookWithManager registers the webhook for Shelf in the manager.
func SetupShelfWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &booksv1.Shelf{}).WithValidator(&ShelfCustomValidator{}).Complete()
}

// +kubebuilder:webhook:path=/validate-books-example-com-v1-shelf,mutating=false,failurePolicy=fail,sideEffects=None,groups=books.example.com,resources=shelves,verbs=create;update,versions=v1,name=vshelf-v1.kb.io,admissionReviewVersions=v1

// ShelfCustomValidator validates a Shelf when it is created or updated.
type ShelfCustomValidator struct{}

// ValidateCreate implements admission.Validator.
func (v *ShelfCustomValidator) ValidateCreate(_ context.Context, shelf *booksv1.Shelf) (admission.Warnings, error) {
	return nil, fits(shelf)
}

// ValidateUpdate implements admission.Validator.
func (v *ShelfCustomValidator) ValidateUpdate(_ context.Context, _, shelf *booksv1.Shelf) (admission.Warnings, error) {
	return nil, fits(shelf)
}

// ValidateDelete implements admission.Validator.
func (v *ShelfCustomValidator) ValidateDelete(context.Context, *booksv1.Shelf) (admission.Warnings, error) {
	return nil, nil
}

func fits(shelf *booksv1.Shelf) error {
	if n := len(shelf.Spec.Books); n > int(shelf.Spec.Capacity) {
		return fmt.Errorf("%d books do not fit on a shelf for %d", n, shelf.Spec.Capacity)
	}
	return nil
}
