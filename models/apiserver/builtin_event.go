package apiserver

import (
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// eventStrategy follows pkg/registry/core/event. Events expire after an hour on a real server; here they stay.
var eventStrategy = builtin{unconditional: true, createOnUpdate: true, noCollection: true}

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
