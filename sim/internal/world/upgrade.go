package world

import (
	"fmt"
	"slices"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/wavetank/wavetank/internal/story"
	"github.com/wavetank/wavetank/sim/internal/choice"
	"github.com/wavetank/wavetank/sim/internal/sched"
)

// upgradeDelays are how long after w.Upgrade a process is asked to stop. The first is the default
// choice.
var upgradeDelays = slices.Concat([]time.Duration{0}, latencies, []time.Duration{2 * time.Second, 10 * time.Second})

// Upgrade makes the next incarnation of a process another version. change sets the options that
// differ from those of the version before.
func (p *programs) Upgrade(name string, setup func(ctrl.Manager) error, change func(*ProcessOptions)) {
	p.panicIfInStep("w.Upgrade")
	v, of := p.versions[name], p.procs.Find(name)
	switch {
	case p.settings.Hosting != nil:
		return // it looks for a process that starts later
	case of == nil:
		p.misuse("w.Upgrade(%q): there is no such process", name)
	case v == nil:
		p.misuse("w.Upgrade(%q): the process was started by w.Run and is no manager that a setup function could make; "+
			"let the program of w.Run choose its version itself, and call w.Stop", name)
	case setup == nil:
		p.misuse("w.Upgrade(%q) was given no setup function", name)
	}
	if r := p.builtins.real; r != nil && r.Child != nil {
		r.refuse("the scenario upgrades a process (w.Upgrade), and a process of its own is always the version of " +
			"w.Start; confirm it without --child")
	}
	if v.rollout != nil && p.sched.Drop(v.rollout) {
		v.rollout.Do()
	}
	o := v.options
	o.Deployed, o.Services = nil, nil
	change(&o)
	if o.Deployed == nil {
		o.Deployed = v.options.Deployed
	} else if o.As == v.options.As {
		o.As = nil // it is that of the new deployment
	}
	if o.Services == nil {
		o.Services = v.options.Services
	}
	p.know(o)
	redeploy := !slices.Equal(o.Deployed, v.options.Deployed)
	v.options = o
	v.upgrades++
	how := fmt.Sprintf("its next incarnation runs the version of w.Upgrade #%d", v.upgrades)
	label, who := story.Label{Kind: story.Upgrade, What: name}, choice.Actor{Name: "upgrade " + name}
	v.rollout = &sched.Action{
		Order: who.Name,
		Actor: who,
		What:  func() string { return "the upgrade of " + name },
		Delay: func() time.Duration {
			return upgradeDelays[p.choices.Pace(label, who, len(upgradeDelays), 0)]
		},
		Do: func() {
			settings := p.deploy(name, &o, redeploy)
			p.rights.judge(of, o)
			of.Upgrade(managerMain(setup, o.Manager), settings, how)
		},
	}
	p.sched.Park(v.rollout)
}
