package garbage

import "time"

const (
	// prompt is how soon an object is created again by a program that reacts to its deletion.
	prompt = time.Second
	// undelayed is how many times in a row an object is collected without delay.
	undelayed = 4
	// maxDelay bounds the delay of the attempts after those.
	maxDelay = 30 * time.Second
)

// pace delays attempts to delete an object that is created again at once each time it is deleted.
// A program does that while its cache still holds the owner. In a cluster each round takes tens of
// milliseconds, because the clients of the collector and of the program are limited. Here it takes
// two, so the delay grows from round to round: 1 ms, doubling up to maxDelay.
type pace struct {
	last  map[identity]round // the last deletion of each object
	sweep int                // the size of last at which old entries are removed
}

// identity is what an object has in common with one that is created in its place.
type identity struct{ group, kind, namespace, name string }

type round struct {
	n  int // rounds in a row
	at time.Duration
}

func (n *node) identity() identity { return identity{n.group, n.kind, n.namespace, n.name} }

// created returns how many rounds have led to an object that is created now.
func (p *pace) created(n *node, now time.Duration) int {
	if last, ok := p.last[n.identity()]; ok && now-last.at <= prompt {
		return last.n
	}
	return 0
}

// deleted notes that the collector has deleted an object.
func (p *pace) deleted(n *node, now time.Duration) {
	if len(p.last) >= p.sweep {
		for id, last := range p.last {
			if now-last.at > prompt {
				delete(p.last, id)
			}
		}
		p.sweep = max(64, 2*len(p.last))
	}
	if p.last == nil {
		p.last = map[identity]round{}
	}
	p.last[n.identity()] = round{n.rounds + 1, now}
}

// delay is how long the collector waits before it deletes the object.
func (n *node) delay() time.Duration {
	if n.rounds < undelayed {
		return 0
	}
	return min(maxDelay, time.Millisecond<<min(n.rounds-undelayed, 20))
}
