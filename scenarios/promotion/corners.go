// This file exists for the odd corners: what environments, people and strategies may do while a
// promotion is under way. Each is a few lines of what happens; what is asked of all of them is the
// same.

package promotion

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/wavetank/wavetank/controllers/promotion"
	"github.com/wavetank/wavetank/controllers/promotion/v1alpha1"
	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim"
	"github.com/wavetank/wavetank/sim/fault"
)

// corner is something that happens between a quiet opening, with dev and staging at v1, and a
// delivery to everywhere.
type corner struct {
	name    string
	happens func(*World)
}

// tell asks of one corner that each stay of dev at a revision is promoted once.
func (c corner) tell(v promotion.Variant, faults ...fault.Fault) func(*sim.World) {
	return workload(quietly, askOncePerStay, c.turn)(v, faults...)
}

// Corners draws one of them and asks for everything that must hold of the fixed variant.
var Corners = workload(quietly, (*World).holds, func(s *World) {
	corners[sim.Draw(s.World, "corner", rapid.IntRange(0, len(corners)-1))].turn(s)
})

// holds asks for what must hold of the fixed variant wherever a pipeline may change. (Where it does
// not, there is more: see Everything.)
func (s *World) holds() {
	askOncePerStay(s)
	s.Always(notStale, s.NotStale)
	askNoLivelock(s)
	askEverywhere(s)
	s.Eventually(isRecorded, s.Recorded)
	askStatusIsTrue(s)
	askTidy(s)
}

// Fleet has many pipelines over one application, and an operator that dies, or is asked to end, in
// the midst of promoting them.
func Fleet(n int) Workload {
	return workload(between("dev", "staging"), func(s *World) {
		s.Eventually(TakesEffectOnce, s.Git.OncePerRevision)
		askEverywhere(s)
	}, func(s *World) {
		s.Open()
		for i := range n - 1 {
			p := Pipeline(s.Environments...)
			p.Name = fmt.Sprintf("web-%03d", i)
			s.Apply(p)
		}
		s.Runs("staging", "v1")
		s.Runs("dev", "v2")
		s.Settle()
	})
}

// turn plays a corner and lets everything be delivered.
func (c corner) turn(s *World) {
	c.happens(s)
	s.Settle()
	for range len(s.Environments) - 1 {
		s.Deliver()
		s.Settle()
	}
}

// late is the name of the corner in which a target appears after the others.
const late = "two targets each, one late"

var corners = []corner{
	{"nothing out of the ordinary", func(s *World) { s.Runs("dev", "v2") }},
	{"ready some time after the revision", func(s *World) {
		s.Struggles("dev", "v2")
		s.Sleep(sim.Draw(s.World, "ready after",
			rapid.SampledFrom([]time.Duration{5 * time.Millisecond, time.Second, 5 * time.Second})))
		s.Runs("dev", "v2")
	}},
	{"dev flaps", func(s *World) {
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Struggles("dev", "v2")
		s.Sleep(soon)
		s.Runs("dev", "v2")
	}},
	{"ready without a revision", func(s *World) {
		s.Runs("staging", "")
		s.Runs("dev", "v2")
	}},
	{"dev moves on and back", func(s *World) {
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Runs("dev", "v3")
		s.Settle()
		s.Runs("dev", "v2")
	}},
	{"an environment is added", func(s *World) {
		s.Apply(Namespace("canary"), App("canary"))
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Environments = []string{"dev", "canary", "staging"}
		s.Apply(Pipeline(s.Environments...))
	}},
	{"environments change places", func(s *World) {
		s.Apply(Namespace("prod"), App("prod"))
		s.Environments = []string{"dev", "staging", "prod"}
		s.Apply(Pipeline(s.Environments...))
		s.Settle()
		s.Runs("dev", "v2")
		s.Sleep(soon)
		s.Apply(Pipeline("dev", "prod", "staging"))
	}},
	reborn,
	{"two pipelines over one application", func(s *World) {
		second := Pipeline(s.Environments...)
		second.Name = "twin"
		s.Apply(second)
		s.Runs("dev", "v2")
	}},
	{late, func(s *World) {
		s.Environments = []string{"dev", "staging", "prod"}
		p := Pipeline(s.Environments...)
		for i := range p.Spec.Environments {
			second := s.Environments[i] + "-2"
			s.Apply(Namespace(second))
			p.Spec.Environments[i].Targets = append(p.Spec.Environments[i].Targets, v1alpha1.Target{Namespace: second})
		}
		s.Apply(Namespace("prod"), App("prod"), App("dev-2"), App("prod-2"), p)
		s.Runs("dev", "v2")
		s.Runs("dev-2", "v2")
		s.Sleep(time.Minute)
		s.Apply(App("staging-2"))
		s.Settle()
		s.Deliver()
		s.Settle()
		s.Runs("staging-2", "v2")
	}},
	ownPolicy,
}

// reborn deletes the pipeline, and makes it again under its name, while it is being promoted.
var reborn = corner{"made again under its name", func(s *World) {
	s.Runs("dev", "v2")
	s.Sleep(soon)
	s.Remove(Pipeline())
	s.Apply(Pipeline(s.Environments...))
}}

// ownPolicy has a policy only where it is needed, on the environment.
var ownPolicy = corner{"a policy only on the environment", func(s *World) {
	p := Pipeline(s.Environments...)
	p.Spec.Environments[1].Promotion, p.Spec.Promotion = p.Spec.Promotion, nil
	s.Apply(p)
	s.Runs("dev", "v2")
}}

// Reborn asks whether a pipeline that takes another one's name gets its own promotion.
var Reborn = workload(quietly, askEverywhere, reborn.turn)

var (
	// Notified promotes by workload a CI, which acts on every Event that it sees, and asks how
	// often it was told.
	Notified = workload(notifying, askNotifiedOnce, startsUp)
	// NotifiedAtAll asks whether the CI was told.
	NotifiedAtAll = workload(notifying, askNotified, startsUpAndSettles)
	// NotifiedOnce asks both.
	NotifiedOnce = workload(notifying, func(s *World) { askNotifiedOnce(s); askNotified(s); askStatusIsTrue(s) },
		startsUpAndSettles)
)

func askNotifiedOnce(s *World) {
	s.Always(NotifiedAtMostOnce, func(h *history.History) error { return errors.Join(notifications(h)...) })
}

func askNotified(s *World) {
	s.Eventually(NotifiedEver, func(h *history.History) error {
		if notifications(h) == nil {
			return errors.New("dev runs v1, and nobody was told to promote it to staging")
		}
		return nil
	})
}

func startsUpAndSettles(s *World) {
	startsUp(s)
	s.Settle()
}

func startsUp(s *World) {
	s.Runs("dev", "v1")
	s.Sleep(dwell)
}

// notifying opens the story with a pipeline that promotes by Events.
func notifying(w *sim.World, v promotion.Variant) *World {
	s := Begin(w, v, "dev", "staging")
	p := Pipeline("dev", "staging")
	p.Spec.Promotion.Strategy = v1alpha1.Strategy{Notification: &v1alpha1.NotificationStrategy{}}
	s.Apply(Namespace("shop"), Namespace("dev"), Namespace("staging"), App("dev"), App("staging"), p)
	w.Sleep(dwell)
	return s
}

// notifications has an entry for each Event that asks for a promotion: nil for the first one of a
// promotion, an error for others.
func notifications(h *history.History) (out []error) {
	seen := map[string]bool{}
	for _, o := range h.Objects("", "Event") {
		var e corev1.Event
		if err := o.Into(&e); err != nil {
			panic(fmt.Sprintf("a stored Event cannot be decoded: %v", err))
		}
		if e.Reason != promotion.PromoteReason {
			continue
		}
		env, revision := e.Annotations[promotion.EnvironmentAnnotation], e.Annotations[promotion.RevisionAnnotation]
		key := fmt.Sprintf("%s %s %s", e.InvolvedObject.UID, env, revision)
		var err error
		if seen[key] {
			err = fmt.Errorf("the CI was told twice to promote %s in %s to %s", e.InvolvedObject.Name, env, revision)
		}
		seen[key] = true
		out = append(out, err)
	}
	return out
}
