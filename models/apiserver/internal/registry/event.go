package registry

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/wavetank/wavetank/models/apiserver/internal/object"
)

// Its strategy follows pkg/registry/core/event and pkg/apis/core/validation/events.go. Events
// expire after an hour on a real server; here they stay.
var eventKind = builtin{
	group: "", version: "v1", kind: "Event", plural: "events",
	short:  []string{"ev"},
	object: func() runtime.Object { return &corev1.Event{} },
	strategy: strategy{
		Unconditional: true, CreateOnUpdate: true, noCollection: true, validName: segmentName,
		Validate: checks(func(e *corev1.Event) field.ErrorList { return eventErrors(e, "reportingComponent") }),
	},
	fields: eventFields,
}

// newEventStrategy holds for events that come in through events.k8s.io.
var newEventStrategy = strategy{
	Unconditional: true, CreateOnUpdate: true, noCollection: true, validName: segmentName,
	Validate: checks(func(e *corev1.Event) field.ErrorList {
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
		return frozen(nil,
			change{"involvedObject", e.InvolvedObject, old.InvolvedObject},
			change{"reason", e.Reason, old.Reason},
			change{"message", e.Message, old.Message},
			change{"type", e.Type, old.Type},
			change{"action", e.Action, old.Action},
			change{"reportingController", e.ReportingController, old.ReportingController},
			change{"reportingInstance", e.ReportingInstance, old.ReportingInstance})
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
		{controller, e.ReportingController}, {"reportingInstance", e.ReportingInstance}, {"action", e.Action},
		{"reason", e.Reason},
	} {
		if part.value == "" {
			errs = append(errs, field.Required(field.NewPath(part.name), ""))
		}
	}
	return errs
}

var eventFields = map[string]func(*object.Object) string{
	"involvedObject.kind":            selects(func(e *corev1.Event) string { return e.InvolvedObject.Kind }),
	"involvedObject.namespace":       selects(func(e *corev1.Event) string { return e.InvolvedObject.Namespace }),
	"involvedObject.name":            selects(func(e *corev1.Event) string { return e.InvolvedObject.Name }),
	"involvedObject.uid":             selects(func(e *corev1.Event) string { return string(e.InvolvedObject.UID) }),
	"involvedObject.apiVersion":      selects(func(e *corev1.Event) string { return e.InvolvedObject.APIVersion }),
	"involvedObject.resourceVersion": selects(func(e *corev1.Event) string { return e.InvolvedObject.ResourceVersion }),
	"involvedObject.fieldPath":       selects(func(e *corev1.Event) string { return e.InvolvedObject.FieldPath }),
	"reason":                         selects(func(e *corev1.Event) string { return e.Reason }),
	"type":                           selects(func(e *corev1.Event) string { return e.Type }),
	"reportingComponent":             selects(func(e *corev1.Event) string { return e.ReportingController }),
	"source":                         selects(eventSource),
}

// eventSource is the component that reports an event.
func eventSource(e *corev1.Event) string { return cmp.Or(e.Source.Component, e.ReportingController) }

// newEventFields are the same under the names that events.k8s.io has for them
// (pkg/apis/events/v1/conversion.go); some cannot be selected by there.
var newEventFields = map[string]func(*object.Object) string{
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

// addEvents serves the events of the core group under events.k8s.io too: the same objects in
// another form.
func (i *Index) addEvents() {
	core := i.ByResource["/events"]
	v := &object.Version{
		Name: "v1", Served: true, New: func() runtime.Object { return &eventsv1.Event{} },
		FromStored: eventFromCore, ToStored: eventToCore, Fields: newEventFields,
	}
	t := &object.Type{
		Group: "events.k8s.io", Kind: "Event", Plural: "events", Short: core.Short, Namespaced: true,
		Versions: []*object.Version{v}, Storage: core.Storage, Table: core.Table, Builtin: true,
	}
	t.Link()
	i.add(&Kind{Type: t, Strategy: &newEventStrategy})
}
