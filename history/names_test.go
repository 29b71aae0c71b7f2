package history

import (
	"encoding/json"
	"testing"
	"time"
)

// Each type in words, and as JSON and back.
func TestTypesInWords(t *testing.T) {
	for want, v := range map[string]any{
		"app default/a #3":    &Reconcile{Key{"app", "default", "a"}, 3},
		"namespace /shop #12": &Reconcile{Key{Controller: "namespace", Name: "shop"}, 12},
		"watch(Pod ADDED)":    &Cause{Kind: CauseWatch, Verb: "ADDED", Object: "Pod"},
		"initial-list(Pod)":   &Cause{Kind: CauseInitialList, Object: "Pod"},
		"initial-list":        &Cause{Kind: CauseInitialList},
		"resync":              &Cause{Kind: CauseResync},
		"channel":             &Cause{Kind: CauseChannel},
		"timer(backoff)":      &Cause{Kind: CauseBackOff},
		"timer(RequeueAfter)": &Cause{Kind: CauseRequeueAfter},
		"backoff":             &Cause{Kind: CauseRateLimited},
		"unknown":             &Cause{Kind: CauseUnknown},
		"reply to patch Pod default/a/status": &Cause{
			Kind: CauseReply, Verb: "patch", Object: "Pod", Of: "default/a/status"},
		"reply to list Pod":            &Cause{Kind: CauseReply, Verb: "list", Object: "Pod"},
		"end of GET git.example/repos": &Cause{Kind: CauseCallEnd, Verb: "GET", Of: "git.example/repos"},
		"end of the Pod watch":         &Cause{Kind: CauseWatchEnd, Object: "Pod"},
		"time-out of the Pod watch":    &Cause{Kind: CauseWatchTimeout, Object: "Pod"},
		"call of webhook v.example":    &Cause{Kind: CauseWebhook, Of: "v.example"},
		"reconcile app default/a #3":   &Cause{Kind: CauseReconcile, Of: "app default/a #3"},
		"racing requeue":               &Cause{Kind: CauseFault, Of: "racing requeue"},
		"garbage-collector default/a":  &Cause{Kind: CauseStep, Of: "garbage-collector default/a"},
		"ok":                           &Outcome{Kind: OutcomeSuccess},
		"requeue":                      &Outcome{Kind: OutcomeRequeue},
		"requeue after 1m0s":           &Outcome{Kind: OutcomeRequeueAfter, After: time.Minute},
		"error: no: luck":              &Outcome{Kind: OutcomeFailure, Text: "no: luck"},
		"terminal error: no":           &Outcome{Kind: OutcomeTerminalFailure, Text: "no"},
		"panic: oh":                    &Outcome{Kind: OutcomePanic, Text: "oh"},
		"the goroutine exited":         &Outcome{Kind: OutcomeGoroutineExit},
		"StaleCache(30s): late":        &Injection{Class: "StaleCache", Arguments: "30s", How: "late"},
		"LostReply: applied, get Pod a": &Injection{Class: "LostReply", How: "applied,", Verb: "get",
			Ref: Ref{Kind: "Pod", Name: "a"}, Of: "get Pod a"},
	} {
		if got := v.(interface{ String() string }).String(); got != want {
			t.Errorf("%+v is %q in words; expected %q", v, got, want)
		}
		survivesJSON(t, v)
	}
}

// survivesJSON checks that a value reads back as it was written.
func survivesJSON(t *testing.T, v any) {
	t.Helper()
	var read any
	switch v.(type) {
	case *Reconcile:
		read = &Reconcile{}
	case *Cause:
		read = &Cause{}
	case *Outcome:
		read = &Outcome{}
	default:
		read = &Injection{}
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, read)
	}
	again, _ := json.Marshal(read)
	if err != nil || string(again) != string(data) {
		t.Errorf("%+v was written as %s and read as %+v (%v)", v, data, read, err)
	}
}

// The zero values are nothing, and have no words.
func TestNothingHasNoWords(t *testing.T) {
	var none *Injection
	for _, v := range []interface{ String() string }{Key{}, Reconcile{}, Cause{}, Outcome{}, none} {
		if got := v.String(); got != "" {
			t.Errorf("nothing of type %T is %q", v, got)
		}
	}
	if !(Reconcile{}).None() || (Reconcile{N: 1}).None() || none.Is("Crash") || none.Fault() != "" {
		t.Error("nothing is taken for something")
	}
}

func TestWhatAnOutcomeMeans(t *testing.T) {
	for kind, want := range map[OutcomeKind][3]bool{ // OK, Failed, Again
		OutcomeSuccess:         {true, false, false},
		OutcomeRequeue:         {false, false, true},
		OutcomeRequeueAfter:    {false, false, true},
		OutcomeFailure:         {false, true, true},
		OutcomeTerminalFailure: {false, true, false},
		OutcomePanic:           {false, true, true},
		OutcomeGoroutineExit:   {false, false, true},
	} {
		o := Outcome{Kind: kind}
		if got := [3]bool{o.OK(), o.Failed(), o.Again()}; got != want {
			t.Errorf("%s is OK, has failed, comes again: %v; expected %v", kind, got, want)
		}
	}
}

// What people read of an event is made from its types.
func TestRemarks(t *testing.T) {
	for want, e := range map[string]Event{
		"exited":          {Kind: Stop, Outcome: Outcome{Kind: OutcomeSuccess}},
		"exited: no luck": {Kind: Stop, Outcome: Outcome{Kind: OutcomeFailure, Text: "no luck"}},
		"asked to stop":   {Kind: Stop, Outcome: Outcome{Kind: OutcomeAsked}},
		"Crash(op): before x": {Kind: Fault, Injection: &Injection{
			Class: "Crash", Arguments: "op", How: "before", Of: "x"}},
		"i/o timeout": {Kind: Reply, Note: "i/o timeout"},
	} {
		if got := e.Remark(); got != want {
			t.Errorf("the remark of %+v is %q; expected %q", e, got, want)
		}
	}
}
