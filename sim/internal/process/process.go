package process

import "github.com/wavetank/wavetank/history"

// Process is one program that runs in the world, over all its incarnations.
type Process struct {
	*program
	next     *program // of the next incarnation, if that is another version
	env      *environment
	observer Observer
	restarts Restarts
	begun    func(*Incarnation)
	current  *Incarnation // nil while the process is down
}

// newProcess is a process that has had some incarnations already. begun is called for each new one
// before its program runs.
func newProcess(e *environment, p *program, before int, o Observer, begun func(*Incarnation)) *Process {
	out := &Process{program: p, env: e, observer: o, begun: begun}
	out.restarts = Restarts{process: p.Name, sched: e.Sched, begin: out.begin, started: before}
	return out
}

// Current is the current incarnation; nil while the process is down.
func (p *Process) Current() *Incarnation { return p.current }

// Incarnations is how many incarnations there were, the current one included.
func (p *Process) Incarnations() int { return p.restarts.started }

func (p *Process) begin() {
	p.restarts.began()
	if p.next != nil {
		p.program, p.next = p.next, nil
	}
	if p.first == 0 {
		p.first = p.restarts.started
	}
	i := newIncarnation(p.env, p.program, &p.restarts, p.observer)
	i.gone = func() {
		if p.current == i {
			p.current = nil
		}
	}
	p.current = i
	p.begun(i)
	i.record(history.Start, history.Outcome{})
	i.start()
}

// Upgrade makes the next incarnations another version, and asks the current one to stop. The
// kubelet starts the new version at once, as a Pod of its own. how says in words which version it
// is.
func (p *Process) Upgrade(main Main, settings Settings, how string) {
	p.next = &program{Name: p.Name, main: main, settings: settings}
	p.env.History.Add(history.Event{Step: p.env.Sched.Steps(), At: p.env.Sched.Now(), Kind: history.Upgrade,
		Process: p.Name, Incarnation: p.restarts.started, Note: how, Server: p.env.Wire.Revision()})
	p.restarts.replace()
	if p.current != nil {
		p.current.Stop()
	}
}
