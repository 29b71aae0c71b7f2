package apiserver

import (
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Jobs and cron jobs: defaults from pkg/apis/batch/v1/defaults.go, hooks from pkg/registry/batch, the rules that
// operators meet from pkg/apis/batch/validation.

var jobStrategy = builtin{
	unconditional: true, status: true, generation: true, orphans: true,
	defaults: on(defaultJob),
	prepareCreate: func(_ *call, o runtime.Object) {
		j := o.(*batchv1.Job)
		selectJobPods(j)
		labelJob(j)
	},
	deleteWarning: "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them " +
		"or set propagationPolicy=Orphan to suppress this warning",
	validate: checks(func(j *batchv1.Job) field.ErrorList { return jobErrors(j) }),
	validateUpdate: compares(func(j, old *batchv1.Job) field.ErrorList {
		spec := field.NewPath("spec")
		errs := apivalidation.ValidateImmutableField(j.Spec.Completions, old.Spec.Completions, spec.Child("completions"))
		if j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batchv1.IndexedCompletion {
			errs = nil
		}
		errs = append(errs, apivalidation.ValidateImmutableField(j.Spec.Selector, old.Spec.Selector, spec.Child("selector"))...)
		suspended := old.Spec.Suspend != nil && *old.Spec.Suspend && old.Status.StartTime == nil
		if !suspended {
			errs = append(errs, apivalidation.ValidateImmutableField(j.Spec.Template, old.Spec.Template, spec.Child("template"))...)
		}
		return append(errs, apivalidation.ValidateImmutableField(j.Spec.CompletionMode, old.Spec.CompletionMode, spec.Child("completionMode"))...)
	}),
}

func defaultJob(j *batchv1.Job) {
	s := &j.Spec
	if s.Completions == nil && s.Parallelism == nil {
		defaultTo(&s.Completions, 1)
	}
	defaultTo(&s.Parallelism, 1)
	if s.BackoffLimit == nil {
		defaultTo(&s.BackoffLimit, 6)
		if s.BackoffLimitPerIndex != nil {
			*s.BackoffLimit = math.MaxInt32
		}
	}
	labelJob(j)
	defaultTo(&s.CompletionMode, batchv1.NonIndexedCompletion)
	defaultTo(&s.Suspend, false)
	if s.PodFailurePolicy != nil {
		defaultTo(&s.PodReplacementPolicy, batchv1.Failed)
	}
	defaultTo(&s.PodReplacementPolicy, batchv1.TerminatingOrFailed)
	defaultTo(&s.ManualSelector, false)
	defaultPodSpec(&s.Template.Spec)
}

// labelJob gives a job without labels those of its template.
func labelJob(j *batchv1.Job) {
	if len(j.Labels) > 0 {
		return
	}
	for name, value := range j.Spec.Template.Labels {
		setLabel(&j.Labels, name, value)
	}
}

// selectJobPods gives a job's pods labels of their own and selects by the job's UID.
func selectJobPods(j *batchv1.Job) {
	if *j.Spec.ManualSelector {
		return
	}
	template := map[string]string{}
	for name, value := range j.Spec.Template.Labels {
		template[name] = value
	}
	for _, name := range []string{"job-name", batchv1.JobNameLabel} {
		if _, given := template[name]; !given {
			template[name] = j.Name
		}
	}
	for _, name := range []string{"controller-uid", batchv1.ControllerUidLabel} {
		if _, given := template[name]; !given {
			template[name] = string(j.UID)
		}
	}
	j.Spec.Template.Labels = template
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if _, given := j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !given {
		setLabel(&j.Spec.Selector.MatchLabels, batchv1.ControllerUidLabel, string(j.UID))
	}
}

func jobErrors(j *batchv1.Job) field.ErrorList {
	spec := field.NewPath("spec")
	errs := jobSpecErrors(&j.Spec, spec)
	if j.Spec.Selector == nil {
		return append(errs, field.Required(spec.Child("selector"), ""))
	}
	if selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil && !selector.Matches(labels.Set(j.Spec.Template.Labels)) {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), j.Spec.Template.Labels, "`selector` does not match template `labels`"))
	}
	return errs
}

func jobSpecErrors(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, n := range []struct {
		name  string
		value *int32
	}{{"parallelism", s.Parallelism}, {"completions", s.Completions}, {"backoffLimit", s.BackoffLimit}, {"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished}} {
		if n.value != nil {
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*n.value), path.Child(n.name))...)
		}
	}
	errs = append(errs, templateErrors(&s.Template, path.Child("template"))...)
	if p := s.Template.Spec.RestartPolicy; p == corev1.RestartPolicyAlways {
		errs = append(errs, field.Required(path.Child("template", "spec", "restartPolicy"), "valid values: \"OnFailure\", \"Never\""))
	}
	return errs
}

var cronJobStrategy = builtin{
	unconditional: true, status: true, generation: true,
	defaults: on(func(c *batchv1.CronJob) {
		defaultString(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
		defaultTo(&c.Spec.Suspend, false)
		defaultTo(&c.Spec.SuccessfulJobsHistoryLimit, 3)
		defaultTo(&c.Spec.FailedJobsHistoryLimit, 1)
		defaultPodSpec(&c.Spec.JobTemplate.Spec.Template.Spec)
	}),
	validate: checks(func(c *batchv1.CronJob) field.ErrorList {
		spec := field.NewPath("spec")
		var errs field.ErrorList
		if c.Spec.Schedule == "" {
			errs = append(errs, field.Required(spec.Child("schedule"), ""))
		}
		return append(errs, jobSpecErrors(&c.Spec.JobTemplate.Spec, spec.Child("jobTemplate", "spec"))...)
	}),
}
