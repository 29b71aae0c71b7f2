package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// eventStrategy follows pkg/registry/core/event and pkg/apis/core/validation/events.go. Events expire after an hour on a
// real server; here they stay.
var eventStrategy = builtin{
	unconditional: true, createOnUpdate: true, noCollection: true, validName: segmentName,
	validate: checks(func(e *corev1.Event) field.ErrorList { return eventErrors(e, "reportingComponent") }),
}

// newEventStrategy holds for events that come in through events.k8s.io.
var newEventStrategy = builtin{
	unconditional: true, createOnUpdate: true, noCollection: true, validName: segmentName,
	validate: checks(func(e *corev1.Event) field.ErrorList {
		errs := eventErrors(e, "reportingController")
		if e.Series != nil && e.Series.Count < 2 {
			errs = append(errs, field.Invalid(field.NewPath("series.count"), "", "should be at least 2"))
		}
		if e.Series != nil && e.Series.LastObservedTime.IsZero() {
			errs = append(errs, field.Required(field.NewPath("series.lastObservedTime"), ""))
		}
		if e.EventTime.IsZero() {
			errs = append(errs, field.Required(field.NewPath("eventTime"), ""))
		}
		if e.Type != corev1.EventTypeNormal && e.Type != corev1.EventTypeWarning {
			errs = append(errs, field.Invalid(field.NewPath("type"), "", "has invalid value: "+e.Type))
		}
		return errs
	}),
	validateUpdate: compares(func(e, old *corev1.Event) field.ErrorList {
		var errs field.ErrorList
		frozen := func(now, before any, name string) {
			errs = append(errs, apivalidation.ValidateImmutableField(now, before, field.NewPath(name))...)
		}
		frozen(e.InvolvedObject, old.InvolvedObject, "involvedObject")
		frozen(e.Reason, old.Reason, "reason")
		frozen(e.Message, old.Message, "message")
		frozen(e.Type, old.Type, "type")
		frozen(e.Action, old.Action, "action")
		frozen(e.ReportingController, old.ReportingController, "reportingController")
		frozen(e.ReportingInstance, old.ReportingInstance, "reportingInstance")
		return errs
	}),
}

func eventErrors(e *corev1.Event, controller string) field.ErrorList {
	var errs field.ErrorList
	about := e.InvolvedObject.Namespace
	mismatch := field.Invalid(field.NewPath("involvedObject", "namespace"), about, "does not match event.namespace")
	if e.EventTime.IsZero() {
		// An event about an object without a namespace lives in the default one.
		if about != e.Namespace && !(about == "" && e.Namespace == "default") {
			errs = append(errs, mismatch)
		}
		return errs
	}
	if about == "" && e.Namespace != "default" && e.Namespace != "kube-system" {
		errs = append(errs, mismatch)
	}
	for _, part := range []struct{ name, value string }{
		{controller, e.ReportingController}, {"reportingInstance", e.ReportingInstance}, {"action", e.Action}, {"reason", e.Reason},
	} {
		if part.value == "" {
			errs = append(errs, field.Required(field.NewPath(part.name), ""))
		}
	}
	return errs
}

var eventFields = map[string]func(*object) string{
	"involvedObject.kind":            func(o *object) string { return eventOf(o).InvolvedObject.Kind },
	"involvedObject.namespace":       func(o *object) string { return eventOf(o).InvolvedObject.Namespace },
	"involvedObject.name":            func(o *object) string { return eventOf(o).InvolvedObject.Name },
	"involvedObject.uid":             func(o *object) string { return string(eventOf(o).InvolvedObject.UID) },
	"involvedObject.apiVersion":      func(o *object) string { return eventOf(o).InvolvedObject.APIVersion },
	"involvedObject.resourceVersion": func(o *object) string { return eventOf(o).InvolvedObject.ResourceVersion },
	"involvedObject.fieldPath":       func(o *object) string { return eventOf(o).InvolvedObject.FieldPath },
	"reason":                         func(o *object) string { return eventOf(o).Reason },
	"type":                           func(o *object) string { return eventOf(o).Type },
	"reportingComponent":             func(o *object) string { return eventOf(o).ReportingController },
	"source": func(o *object) string {
		if source := eventOf(o).Source.Component; source != "" {
			return source
		}
		return eventOf(o).ReportingController
	},
}

// newEventFields are the same under the names that events.k8s.io has for them (pkg/apis/events/v1/conversion.go); some cannot be
// selected by there.
var newEventFields = map[string]func(*object) string{
	"regarding.kind":            eventFields["involvedObject.kind"],
	"regarding.namespace":       eventFields["involvedObject.namespace"],
	"regarding.name":            eventFields["involvedObject.name"],
	"regarding.uid":             eventFields["involvedObject.uid"],
	"regarding.apiVersion":      eventFields["involvedObject.apiVersion"],
	"regarding.resourceVersion": eventFields["involvedObject.resourceVersion"],
	"regarding.fieldPath":       eventFields["involvedObject.fieldPath"],
	"reason":                    eventFields["reason"],
	"type":                      eventFields["type"],
	"reportingController":       eventFields["reportingComponent"],
}

func eventOf(o *object) *corev1.Event { return o.typed.(*corev1.Event) }

// eventToCore and eventFromCore are the two forms of an event (pkg/apis/events/v1/conversion.go).
func eventToCore(o runtime.Object) runtime.Object {
	in := o.(*eventsv1.Event)
	out := &corev1.Event{
		ObjectMeta:          in.ObjectMeta,
		InvolvedObject:      in.Regarding,
		Related:             in.Related,
		Reason:              in.Reason,
		Message:             in.Note,
		Source:              in.DeprecatedSource,
		FirstTimestamp:      in.DeprecatedFirstTimestamp,
		LastTimestamp:       in.DeprecatedLastTimestamp,
		Count:               in.DeprecatedCount,
		Type:                in.Type,
		EventTime:           in.EventTime,
		Action:              in.Action,
		ReportingController: in.ReportingController,
		ReportingInstance:   in.ReportingInstance,
	}
	if in.Series != nil {
		out.Series = &corev1.EventSeries{Count: in.Series.Count, LastObservedTime: in.Series.LastObservedTime}
	}
	return out
}

func eventFromCore(o runtime.Object) runtime.Object {
	in := o.(*corev1.Event)
	out := &eventsv1.Event{
		ObjectMeta:               in.ObjectMeta,
		Regarding:                in.InvolvedObject,
		Related:                  in.Related,
		Reason:                   in.Reason,
		Note:                     in.Message,
		DeprecatedSource:         in.Source,
		DeprecatedFirstTimestamp: in.FirstTimestamp,
		DeprecatedLastTimestamp:  in.LastTimestamp,
		DeprecatedCount:          in.Count,
		Type:                     in.Type,
		EventTime:                in.EventTime,
		Action:                   in.Action,
		ReportingController:      in.ReportingController,
		ReportingInstance:        in.ReportingInstance,
	}
	if in.Series != nil {
		out.Series = &eventsv1.EventSeries{Count: in.Series.Count, LastObservedTime: in.Series.LastObservedTime}
	}
	return out
}
