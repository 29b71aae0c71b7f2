package registry

import (
	"math"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Jobs have their defaults from pkg/apis/batch/v1/defaults.go, their hooks from pkg/registry/batch,
// and the rules that operators meet from pkg/apis/batch/validation.

var jobKind = builtin{
	group: "batch", version: "v1", kind: "Job", plural: "jobs",
	categories: []string{"all"},
	object:     func() runtime.Object { return &batchv1.Job{} },
	strategy:   jobStrategy,
	fields:     jobFields,
}

var jobStrategy = strategy{
	Unconditional: true, status: true, generation: true, orphans: true,
	defaults: on(defaultJob),
	prepareCreate: func(_ Write, o runtime.Object) {
		j := o.(*batchv1.Job)
		selectJobPods(j)
		labelJob(j)
	},
	DeleteWarning: "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to " +
		"remove them " +
		"or set propagationPolicy=Orphan to suppress this warning",
	Validate: checks(func(j *batchv1.Job) field.ErrorList {
		errs := jobErrors(j)
		if manual := j.Spec.ManualSelector; (manual == nil || !*manual) && j.Spec.Selector != nil &&
			len(j.Spec.Selector.MatchLabels) > 1 {
			errs = append(errs, field.Invalid(field.NewPath("spec", "selector"), j.Spec.Selector,
				"`selector` not auto-generated"))
		}
		return errs
	}),
	validateUpdate: compares(func(j, old *batchv1.Job) field.ErrorList {
		spec := field.NewPath("spec")
		now, before := &j.Spec, &old.Spec
		var errs field.ErrorList
		if now.CompletionMode == nil || *now.CompletionMode != batchv1.IndexedCompletion {
			errs = frozen(spec, change{"completions", now.Completions, before.Completions})
		}
		errs = append(errs, frozen(spec, change{"selector", now.Selector, before.Selector})...)
		errs = append(errs, jobTemplateErrors(j, old, spec.Child("template"))...)
		return append(errs, frozen(spec,
			change{"completionMode", now.CompletionMode, before.CompletionMode},
			change{"podFailurePolicy", now.PodFailurePolicy, before.PodFailurePolicy},
			change{"backoffLimitPerIndex", now.BackoffLimitPerIndex, before.BackoffLimitPerIndex},
			change{"managedBy", now.ManagedBy, before.ManagedBy},
			change{"successPolicy", now.SuccessPolicy, before.SuccessPolicy})...)
	}),
}

var jobFields = map[string]func(*object.Object) string{
	"status.successful": selects(func(j *batchv1.Job) string { return strconv.Itoa(int(j.Status.Succeeded)) }),
}

// jobTemplateErrors: as long as a job is suspended and has no pods, what its pods ask for and where
// they may run is open (pkg/registry/batch/job/strategy.go, shouldAllowMutablePodTemplate;
// pkg/apis/batch/validation, validatePodTemplateUpdate).
func jobTemplateErrors(j, old *batchv1.Job, path *field.Path) field.ErrorList {
	held := old.Status.StartTime == nil
	for _, c := range old.Status.Conditions {
		held = held || c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionTrue
	}
	if old.Spec.Suspend == nil || !*old.Spec.Suspend || !held || old.Status.Active > 0 {
		return apivalidation.ValidateImmutableField(j.Spec.Template, old.Spec.Template, path)
	}
	to, from := &j.Spec.Template.Spec, old.Spec.Template.Spec.DeepCopy()
	switch {
	case to.Affinity == nil && from.Affinity != nil:
		from.Affinity.NodeAffinity = nil
		if *from.Affinity == (corev1.Affinity{}) {
			from.Affinity = nil
		}
	case to.Affinity != nil && from.Affinity == nil:
		from.Affinity = &corev1.Affinity{NodeAffinity: to.Affinity.NodeAffinity}
	case to.Affinity != nil:
		from.Affinity.NodeAffinity = to.Affinity.NodeAffinity
	}
	from.NodeSelector, from.Tolerations, from.SchedulingGates = to.NodeSelector, to.Tolerations, to.SchedulingGates
	keepResources(to.Containers, from.Containers)
	keepResources(to.InitContainers, from.InitContainers)
	return apivalidation.ValidateImmutableField(*to, *from, path.Child("spec"))
}

// keepResources gives containers the resources of those that have their names and places.
func keepResources(to, from []corev1.Container) {
	for i := range from {
		if len(to) == len(from) && to[i].Name == from[i].Name {
			from[i].Resources = to[i].Resources
		}
	}
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
	if selector, err := metav1.LabelSelectorAsSelector(j.Spec.Selector); err == nil &&
		!selector.Matches(labels.Set(j.Spec.Template.Labels)) {
		errs = append(errs, field.Invalid(spec.Child("template", "metadata", "labels"), j.Spec.Template.Labels,
			"`selector` does not match template `labels`"))
	}
	return errs
}

func jobSpecErrors(s *batchv1.JobSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, n := range []struct {
		name  string
		value *int32
	}{{"parallelism", s.Parallelism}, {"completions", s.Completions}, {"backoffLimit", s.BackoffLimit},
		{"ttlSecondsAfterFinished", s.TTLSecondsAfterFinished}} {
		if n.value != nil {
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*n.value), path.Child(n.name))...)
		}
	}
	errs = append(errs, templateErrors(&s.Template, path.Child("template"))...)
	if p := s.Template.Spec.RestartPolicy; p == corev1.RestartPolicyAlways {
		errs = append(errs, field.Required(path.Child("template", "spec", "restartPolicy"),
			"valid values: \"OnFailure\", \"Never\""))
	}
	return errs
}
