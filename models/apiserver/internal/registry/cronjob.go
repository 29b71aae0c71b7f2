package registry

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Cron jobs follow pkg/apis/batch/v1/defaults.go and pkg/apis/batch/validation
// (validateCronJobSpec).

var cronJobKind = builtin{
	group: "batch", version: "v1", kind: "CronJob", plural: "cronjobs",
	short: []string{"cj"}, categories: []string{"all"},
	object:   func() runtime.Object { return &batchv1.CronJob{} },
	strategy: cronJobStrategy,
}

// longestCronJobName leaves room for the time that its jobs' names end with.
const longestCronJobName = 52

var cronSchedule = field.NewPath("spec", "schedule")

var cronTimeZone = field.NewPath("spec", "timeZone")

var concurrencyPolicies = []batchv1.ConcurrencyPolicy{
	batchv1.AllowConcurrent, batchv1.ForbidConcurrent, batchv1.ReplaceConcurrent,
}

var cronJobStrategy = strategy{
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
			errs = append(errs, apivalidation.ValidateNonnegativeField(*n, path.Child("startingDeadlineSeconds"))...)
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
