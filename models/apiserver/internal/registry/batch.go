package registry

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
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
	strategy: strategy{
		Unconditional: true, status: true, generation: true, orphans: true,
		defaults: on(defaultJob),
		prepareCreate: func(_ Write, o runtime.Object) {
			j := o.(*batchv1.Job)
			selectJobPods(j)
			labelJob(j)
		},
		DeleteWarning: "child pods are preserved by default when jobs are deleted; " +
			"set propagationPolicy=Background to " +
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
	},
	fields: jobFields,
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

// Cron jobs follow pkg/apis/batch/v1/defaults.go and pkg/apis/batch/validation
// (validateCronJobSpec).

var cronJobKind = builtin{
	group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs",
	short: []string{"cj"}, categories: []string{"all"},
	object: func() runtime.Object { return &batchv1.CronJob{} },
	strategy: strategy{
		Unconditional: true, status: true, generation: true,
		defaults: on(func(c *batchv1.CronJob) {
			defaultString(&c.Spec.ConcurrencyPolicy, batchv1.AllowConcurrent)
			defaultTo(&c.Spec.Suspend, false)
			defaultTo(&c.Spec.SuccessfulJobsHistoryLimit, 3)
			defaultTo(&c.Spec.FailedJobsHistoryLimit, 1)
			defaultPodSpec(&c.Spec.JobTemplate.Spec.Template.Spec)
		}),
		Validate: checks(func(c *batchv1.CronJob) field.ErrorList {
			s, path := &c.Spec, field.NewPath("spec")
			var errs field.ErrorList
			if s.Schedule == "" {
				errs = append(errs, field.Required(cronSchedule, ""))
			} else if err := parseSchedule(s.Schedule); err != nil {
				errs = append(errs, field.Invalid(cronSchedule, s.Schedule, err.Error()))
			}
			if n := s.StartingDeadlineSeconds; n != nil {
				errs = append(
					errs,
					apivalidation.ValidateNonnegativeField(*n, path.Child("startingDeadlineSeconds"))...)
			}
			if !slices.Contains(concurrencyPolicies, s.ConcurrencyPolicy) {
				errs = append(errs, field.NotSupported(path.Child("concurrencyPolicy"), s.ConcurrencyPolicy,
					concurrencyPolicies))
			}
			errs = append(errs, jobSpecErrors(&s.JobTemplate.Spec, path.Child("jobTemplate", "spec"))...)
			errs = append(errs, apivalidation.ValidateNonnegativeField(int64(*s.SuccessfulJobsHistoryLimit),
				path.Child("successfulJobsHistoryLimit"))...)
			return append(errs, apivalidation.ValidateNonnegativeField(int64(*s.FailedJobsHistoryLimit),
				path.Child("failedJobsHistoryLimit"))...)
		}),
		validateNew: checks(func(c *batchv1.CronJob) field.ErrorList {
			errs := timeZoneErrors(c.Spec.TimeZone)
			if strings.Contains(c.Spec.Schedule, "TZ") {
				errs = append(errs, zoneInSchedule(c.Spec.Schedule))
			}
			if len(c.Name) > longestCronJobName {
				errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), c.Name,
					"must be no more than 52 characters"))
			}
			return errs
		}),
		validateUpdate: compares(func(c, old *batchv1.CronJob) field.ErrorList {
			var errs field.ErrorList
			if strings.Contains(c.Spec.Schedule, "TZ") { // none has it yet: it is refused on creation
				errs = append(errs, zoneInSchedule(c.Spec.Schedule))
			}
			if z := c.Spec.TimeZone; z != nil && (old.Spec.TimeZone == nil || *z != *old.Spec.TimeZone) {
				errs = append(errs, timeZoneErrors(z)...)
			}
			return errs
		}),
	},
}

// longestCronJobName leaves room for the time that its jobs' names end with.
const longestCronJobName = 52

var cronSchedule = field.NewPath("spec", "schedule")

var cronTimeZone = field.NewPath("spec", "timeZone")

var concurrencyPolicies = []batchv1.ConcurrencyPolicy{
	batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent,
}

// parseSchedule fails where a schedule cannot be read; the library panics at some
// (pkg/util/parsers).
func parseSchedule(schedule string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("invalid schedule format: %v", r)
		}
	}()
	_, err = cron.ParseStandard(schedule)
	return err
}

// zonePart is what a part of a time zone's name may be.
var zonePart = regexp.MustCompile(`^[A-Za-z\.\-_0-9+]{1,14}$`)

func timeZoneErrors(zone *string) (errs field.ErrorList) {
	if zone == nil {
		return nil
	}
	if *zone == "" {
		return field.ErrorList{field.Invalid(cronTimeZone, zone, "timeZone must be nil or non-empty string")}
	}
	for part := range strings.SplitSeq(*zone, "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zonePart.MatchString(part) {
			return field.ErrorList{field.Invalid(cronTimeZone, zone, "unknown time zone "+*zone)}
		}
	}
	if strings.EqualFold(*zone, "Local") {
		errs = append(errs, field.Invalid(cronTimeZone, zone,
			"timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"))
	}
	if _, err := time.LoadLocation(*zone); err != nil {
		errs = append(errs, field.Invalid(cronTimeZone, zone, err.Error()))
	}
	return errs
}

// zoneInSchedule refuses a schedule that names a time zone.
func zoneInSchedule(schedule string) *field.Error {
	return field.Invalid(cronSchedule, schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
}
