package v1

import (
	"context"

	"github.com/robfig/cron/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	batchv1 "tutorial.example.com/project/api/v1"
)

// SetupCronJobWebhookWithManager registers the webhook for CronJob in the manager.
func SetupCronJobWebhookWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &batchv1.CronJob{}).
		WithValidator(&CronJobCustomValidator{}).
		WithDefaulter(&CronJobCustomDefaulter{
			DefaultConcurrencyPolicy:          batchv1.AllowConcurrent,
			DefaultSuspend:                    false,
			DefaultSuccessfulJobsHistoryLimit: 3,
			DefaultFailedJobsHistoryLimit:     1,
		}).
		Complete()
}

// +kubebuilder:webhook:path=/mutate-batch-tutorial-example-com-v1-cronjob,mutating=true,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.example.com,resources=cronjobs,verbs=create;update,versions=v1,name=mcronjob-v1.kb.io,admissionReviewVersions=v1

// CronJobCustomDefaulter sets default values on a CronJob when it is created or updated.
type CronJobCustomDefaulter struct {
	DefaultConcurrencyPolicy          batchv1.ConcurrencyPolicy
	DefaultSuspend                    bool
	DefaultSuccessfulJobsHistoryLimit int32
	DefaultFailedJobsHistoryLimit     int32
}

// Default implements admission.Defaulter.
func (d *CronJobCustomDefaulter) Default(_ context.Context, cronJob *batchv1.CronJob) error {
	if cronJob.Spec.ConcurrencyPolicy == "" {
		cronJob.Spec.ConcurrencyPolicy = d.DefaultConcurrencyPolicy
	}
	if cronJob.Spec.Suspend == nil {
		cronJob.Spec.Suspend = &d.DefaultSuspend
	}
	if cronJob.Spec.SuccessfulJobsHistoryLimit == nil {
		cronJob.Spec.SuccessfulJobsHistoryLimit = &d.DefaultSuccessfulJobsHistoryLimit
	}
	if cronJob.Spec.FailedJobsHistoryLimit == nil {
		cronJob.Spec.FailedJobsHistoryLimit = &d.DefaultFailedJobsHistoryLimit
	}
	return nil
}

// +kubebuilder:webhook:path=/validate-batch-tutorial-example-com-v1-cronjob,mutating=false,failurePolicy=fail,sideEffects=None,groups=batch.tutorial.example.com,resources=cronjobs,verbs=create;update,versions=v1,name=vcronjob-v1.kb.io,admissionReviewVersions=v1

// CronJobCustomValidator validates a CronJob when it is created or updated.
type CronJobCustomValidator struct{}

// ValidateCreate implements admission.Validator.
func (v *CronJobCustomValidator) ValidateCreate(_ context.Context, cronJob *batchv1.CronJob) (admission.Warnings, error) {
	return nil, validateCronJob(cronJob)
}

// ValidateUpdate implements admission.Validator.
func (v *CronJobCustomValidator) ValidateUpdate(_ context.Context, _, cronJob *batchv1.CronJob) (admission.Warnings, error) {
	return nil, validateCronJob(cronJob)
}

// ValidateDelete implements admission.Validator.
func (v *CronJobCustomValidator) ValidateDelete(context.Context, *batchv1.CronJob) (admission.Warnings, error) {
	return nil, nil
}

func validateCronJob(cronJob *batchv1.CronJob) error {
	var errs field.ErrorList
	if len(cronJob.Name) > 52 {
		errs = append(errs, field.Invalid(field.NewPath("metadata").Child("name"), cronJob.Name,
			"must be no more than 52 characters"))
	}
	if _, err := cron.ParseStandard(cronJob.Spec.Schedule); err != nil {
		errs = append(errs, field.Invalid(field.NewPath("spec").Child("schedule"), cronJob.Spec.Schedule, err.Error()))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: batchv1.GroupVersion.Group, Kind: "CronJob"}, cronJob.Name, errs)
}
