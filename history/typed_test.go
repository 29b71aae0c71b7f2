package history_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"

	"github.com/wavetank/wavetank/history"
)

// Widget is a type of an operator of its own.
type Widget struct {
	Spec struct {
		Colour string `json:"colour"`
	} `json:"spec"`
}

func with(objects ...history.Change) *history.History {
	h := &history.History{}
	h.Add(history.Event{Kind: history.Request, Changes: objects})
	return h
}

func added(group, kind, name, object string) history.Change {
	return history.Change{
		Type:   "ADDED",
		Ref:    history.Ref{Group: group, Kind: kind, Namespace: "default", Name: name},
		Object: []byte(object),
	}
}

func TestGetFindsTheKindOfAType(t *testing.T) {
	h := with(
		added("example.com", "Widget", "b", `{"spec":{"colour":"blue"}}`),
		added("example.com", "Widget", "a", `{"spec":{"colour":"red"}}`),
		added("", "Event", "core", `{"message":"of the group without a name"}`),
		added("events.k8s.io", "Event", "new", `{"note":"of the other group"}`),
	)
	if w, ok := history.Get[Widget](h, "default", "b"); !ok || w.Spec.Colour != "blue" {
		t.Errorf("expected the blue widget, got %+v, %t", w, ok)
	}
	if list := history.List[Widget](h); len(list) != 2 || list[0].Spec.Colour != "red" {
		t.Errorf("expected two widgets, the red one first, got %+v", list)
	}
	if _, ok := history.Get[Widget](h, "default", "c"); ok {
		t.Error("a widget was found that does not exist")
	}
	if list := history.List[corev1.ConfigMap](h); list != nil {
		t.Errorf("expected no ConfigMap, got %+v", list)
	}
	if list := history.List[corev1.Event](h); len(list) != 1 || !strings.HasPrefix(list[0].Message, "of the group") {
		t.Errorf("expected the Event of the core group, got %+v", list)
	}
	if list := history.List[eventsv1.Event](h); len(list) != 1 || list[0].Note != "of the other group" {
		t.Errorf("expected the Event of events.k8s.io, got %+v", list)
	}
}

func TestGetPanics(t *testing.T) {
	for name, c := range map[string]struct {
		h    *history.History
		want string
	}{
		"two groups": {
			with(added("one.example", "Widget", "a", `{}`), added("two.example", "Widget", "a", `{}`)),
			`Widget is a kind of the groups "one.example" and "two.example": use History.Object`,
		},
		"another type": {
			with(added("example.com", "Widget", "a", `{"spec":"text"}`)),
			"Widget default/a (rv 0) cannot be decoded into history_test.Widget: json: ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if said, _ := recover().(string); !strings.Contains(said, c.want) {
					t.Errorf("expected %q, got %q", c.want, said)
				}
			}()
			history.Get[Widget](c.h, "default", "a")
		})
	}
}
