package auto

import (
	"fmt"
	"slices"
	"time"

	"github.com/wavetank/wavetank/history"
	"github.com/wavetank/wavetank/sim/internal/world"
	"github.com/wavetank/wavetank/sim/property"
)

// users is every writer to the cluster other than the programs under test. It owns the order of
// what they do: it carries out the plan.
type users struct {
	world     *world.World
	drawn     plan
	subjects  []*subject
	reapplies bool // everything is applied again before it is deleted

	author   *author
	provider *provider
	outsider *outsider
}

func newUsers(s *settings) *users {
	u := &users{world: s.world, subjects: s.subjects(), author: &author{world: s.world},
		reapplies: !slices.Contains(s.without, property.DefaultApplyIsStable),
		outsider:  &outsider{world: s.world, marks: s.marks}}
	u.provider = &provider{author: u.author, subjects: &u.subjects}
	return u
}

// begin creates the objects that are there from the start. The world settles after each, because an
// operator may give the first of two what the second does not get.
func (u *users) begin(prerequisites []history.Ref) {
	if u.drawn.ready {
		for _, ref := range prerequisites {
			said, _ := u.provider.provideAt(ref, 0)
			u.world.Drew("begin", said)
		}
	}
	if s := u.drawn.late; s != nil && s.wanted != nil {
		u.world.Drew("begin", u.author.remove(s))
		u.wait(0)
	}
	for _, s := range u.drawn.first {
		u.world.Drew("begin", fmt.Sprintf("create %s: %s", s, u.author.make(s)))
		if !u.drawn.hurried {
			u.world.Settle()
			u.provider.provideAll()
		}
	}
	u.provider.provideSelected(u.drawn.hurried)
	if err := u.author.err; err != nil && !anyExists(u.drawn.first) {
		u.world.Misuse("auto.Scenario: the server refuses every object that users create; correct the samples, or "+
			"give some by auto.Samples or auto.Objects: %v", err)
	}
	if u.drawn.hurried {
		u.wait(u.drawn.nextIsEarly(0))
	}
}

// anyExists reports whether users have created one of some subjects.
func anyExists(subjects []*subject) bool {
	return slices.ContainsFunc(subjects, func(s *subject) bool { return s.wanted != nil })
}

// wait lets the world settle, or only so much time pass.
func (u *users) wait(early time.Duration) (atRest bool) {
	if early > 0 {
		u.world.Sleep(early)
		return false
	}
	u.world.Settle()
	return true
}

// act performs the actions.
func (u *users) act() {
	atRest := u.drawn.nextIsEarly(0) == 0
	for i, a := range u.drawn.actions {
		if a.what == nothing {
			continue
		}
		if !atRest && !a.known() { // what there is to act on must not depend on the schedule
			u.world.Settle()
			atRest = true
		}
		if a.what == applyAgain {
			if anyExists(u.subjects) {
				u.world.Drew(a.label, "apply everything again")
				u.world.ApplyAgain()
			}
			continue
		}
		said := u.perform(a)
		if said == "" {
			continue
		}
		u.world.Drew(a.label, said)
		atRest = u.wait(u.drawn.nextIsEarly(i + 1))
	}
	if !atRest {
		u.world.Settle()
	}
}

// perform does what an action says, and says what it was; "" if it could not be done.
func (u *users) perform(a action) string {
	switch a.what {
	case restart:
		return u.restartOne(a.nth)
	case removeChild, editChild, unlabelChild, markChild:
		return u.outsider.disturbChild(a)
	case provide:
		return u.provider.provide(a)
	}
	s := a.subject
	switch {
	case a.what == create && s.wanted == nil:
		return fmt.Sprintf("create %s: %s", s, u.author.make(s))
	case a.what == create || s.wanted == nil:
		return ""
	}
	switch a.what {
	case change:
		return u.author.change(s, a.field, a.value)
	case scale:
		if n := s.replicas(); n >= 0 {
			return u.author.change(s, n, a.value)
		}
	case changeBack:
		if s.before != nil && u.author.changeBack(s) == nil {
			return fmt.Sprintf("change %s back: %s", s, short(text(s.wanted)))
		}
	case remove:
		return u.author.remove(s)
	case recreate:
		return u.author.recreate(s)
	case mark:
		return u.outsider.mark(a, s.wanted.DeepCopy(), s.String(), s.fields)
	case twice:
		return u.author.changeTwice(a, u.drawn.hurried)
	case removeAndRestart:
		u.world.Drew(a.label, u.author.remove(s))
		pause(u.world, soon[a.nth%len(soon)])
		return u.restartOne(a.nth)
	}
	return ""
}

// restartOne restarts one of the programs.
func (u *users) restartOne(nth int) string {
	all := u.world.Processes()
	name := all[nth%len(all)]
	u.world.Stop(name)
	return "restart " + name
}

// end applies everything again, as a GitOps tool does all the time, restarts the programs and
// deletes everything.
func (u *users) end() {
	if u.reapplies && anyExists(u.subjects) {
		u.world.Drew("end", "apply everything again")
		u.world.ApplyAgain()
	}
	u.restart("restart every program")
	u.world.Settle()
	var left []*subject
	for _, s := range u.subjects {
		if s.wanted != nil && !s.provided { // a finalizer may need what the operator has asked for
			left = append(left, s)
		}
	}
	for _, s := range slices.Backward(left) {
		u.world.Drew("end", u.author.remove(s))
	}
	if len(left) > 0 {
		if u.drawn.restarts {
			u.world.Sleep(soon[3])
			u.restart("restart every program while objects are being deleted")
		}
		u.world.Settle()
	}
	u.clear()
}

// restart restarts every program at the end.
func (u *users) restart(said string) {
	for _, name := range u.world.Processes() {
		u.world.Stop(name)
	}
	u.world.Drew("end", said)
}

// clear deletes what programs have looked for: nothing asks for it any longer.
func (u *users) clear() {
	for _, s := range u.subjects {
		if s.wanted != nil && s.provided {
			u.world.Drew("end", u.author.remove(s))
		}
	}
	if !anyExists(u.subjects) {
		u.world.Drew("end", allDeleted)
	}
	u.world.Settle()
}
