package inject

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/wavetank/wavetank/models/apiserver"
	"github.com/wavetank/wavetank/sim/internal/process"
	"github.com/wavetank/wavetank/sim/internal/sched"
	"github.com/wavetank/wavetank/sim/internal/wire"
)

// plain is a fault without a hook. It keeps the names of the faults that were asked.
type plain struct {
	name  string
	armed bool
	asked *[]string
}

func (p *plain) String() string { return p.name }
func (p *plain) Check() error   { return nil }

func (p *plain) Declared() (class, rest string) { return p.name, "" }

func (p *plain) Arm(n int)    { p.armed = n > 0 }
func (p *plain) Armed() bool  { return p.armed }
func (p *plain) Count() Count { return Count{Fault: p.name} }
func (p *plain) ask()         { *p.asked = append(*p.asked, p.name) }

// hooked is a fault with every hook, which answers all alike.
type hooked struct {
	plain
	ruling wire.Ruling
	fate   wire.Fate
	delay  time.Duration
}

func (h *hooked) Arrive(*wire.Call) wire.Ruling                            { h.ask(); return h.ruling }
func (h *hooked) Landed(*wire.Call) wire.Ruling                            { h.ask(); return h.ruling }
func (h *hooked) Webhook(*wire.Call) wire.Ruling                           { h.ask(); return h.ruling }
func (h *hooked) Lag(*wire.Stream, apiserver.Frame) time.Duration          { h.ask(); return h.delay }
func (h *hooked) Fate(*wire.Stream, apiserver.Frame) wire.Fate             { h.ask(); return h.fate }
func (h *hooked) ReplyDelay(*wire.Call) time.Duration                      { h.ask(); return h.delay }
func (h *hooked) StepDelay(string, string) time.Duration                   { h.ask(); return h.delay }
func (h *hooked) PodExit(*corev1.Pod, string) int32                        { h.ask(); return int32(h.fate) }
func (h *hooked) Held(*sched.Action) time.Duration                         { h.ask(); return h.delay }
func (h *hooked) Dequeued(*process.Incarnation, string, reconcile.Request) { h.ask() }
func (h *hooked) End()                                                     { h.ask() }

// three is a set of a fault that does little, one without hooks, and one that does more; asked are
// the names of those asked.
func three() (s *Set, asked *[]string) {
	asked, s = &[]string{}, &Set{}
	s.Add(&hooked{plain{"little", false, asked}, wire.Ruling{Again: true}, wire.Arrives, time.Second})
	s.Add(&plain{"none", false, asked})
	s.Add(&hooked{plain{"more", false, asked}, wire.Ruling{Lose: errors.New("lost")}, wire.Drops, time.Minute})
	s.Add(&hooked{plain{"last", false, asked}, wire.Ruling{Kill: true}, wire.Expires, time.Second})
	return s, asked
}

func TestFaultsAreAskedInOrder(t *testing.T) {
	untilOneDecides, all := []string{"little", "more"}, []string{"little", "more", "last"}
	for name, c := range map[string]struct {
		ask  func(*Set) any
		want any
		who  []string
	}{
		"arrive":      {func(s *Set) any { return s.Arrive(nil).Lose != nil }, true, untilOneDecides},
		"landed":      {func(s *Set) any { return s.Landed(nil).Lose != nil }, true, untilOneDecides},
		"webhook":     {func(s *Set) any { return s.Webhook(nil).Lose != nil }, true, untilOneDecides},
		"fate":        {func(s *Set) any { return s.Fate(nil, apiserver.Frame{}) }, wire.Drops, untilOneDecides},
		"lag":         {func(s *Set) any { return s.Lag(nil, apiserver.Frame{}) }, time.Minute, all},
		"reply delay": {func(s *Set) any { return s.ReplyDelay(nil) }, 62 * time.Second, all},
		"step delay":  {func(s *Set) any { return s.StepDelay("", "") }, 62 * time.Second, all},
		"pod exit":    {func(s *Set) any { return s.PodExit(nil, "") }, int32(wire.Drops), untilOneDecides},
		"held":        {func(s *Set) any { return s.Held(nil) }, time.Minute, all},
		"dequeued":    {func(s *Set) any { s.Dequeued(nil, "", reconcile.Request{}); return nil }, nil, all},
		"end":         {func(s *Set) any { s.End(); return nil }, nil, all},
	} {
		s, asked := three()
		if got := c.ask(s); got != c.want {
			t.Errorf("%s: the set answers %v; expected %v", name, got, c.want)
		}
		if !slices.Equal(*asked, c.who) {
			t.Errorf("%s: asked were %q; expected %q", name, *asked, c.who)
		}
	}
}

func TestARulingThatEndsNothingIsKept(t *testing.T) {
	var s Set
	s.Add(&hooked{plain: plain{asked: &[]string{}}, ruling: wire.Ruling{Again: true}})
	s.Add(&hooked{plain: plain{asked: &[]string{}}})
	if !s.Arrive(nil).Again {
		t.Error("the request arrives once; expected twice")
	}
}

func TestASetIsArmedAndHoldsByItsFaults(t *testing.T) {
	var s Set
	f := &plain{name: "a"}
	s.Add(f)
	if s.Armed() || len(s.holders) > 0 {
		t.Error("a fault that is off and has no hook arms the set, or holds actions")
	}
	f.Arm(1)
	s.Add(&hooked{plain: plain{name: "b"}})
	if !s.Armed() || len(s.holders) == 0 {
		t.Error("the set is not armed, or holds no actions")
	}
	if counts := s.Counts(); len(counts) != 2 || counts[0].Fault != "a" || counts[1].Fault != "b" {
		t.Errorf("the counts are %v; expected those of a and b", counts)
	}
}
