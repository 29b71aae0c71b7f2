package process

import "github.com/wavetank/wavetank/history"

// Process is one program that runs in the world, over all its incarnations.
type Process struct {
	*program
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
