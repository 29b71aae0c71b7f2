package wire

import "time"

// Silence is a watch that a living program had or wanted and has not got. If it is a reflector's, the reflector waits to
// try again, on a timer that nobody sees.
type Silence struct {
	Call  *Call         // that failed, or whose stream the server ended
	Since time.Duration // virtual time of it
	Tried int           // index of the event by which the program knew that it tried in vain; 0 for a stream that ended
}

// reflectors wait a minute at most: client-go's longest back-off is 30 s, and as much again of jitter (tools/cache,
// defaultBackoffMax and defaultBackoffJitter).
const reflectorsWait = time.Minute

// Until is when a reflector would have tried again. If nothing came by then, nobody wants to hear any more.
func (s *Silence) Until() time.Duration { return s.Since + reflectorsWait }

// reflects says whether the call may be a reflector's: one outside any reconcile that lists or watches.
func (c *Call) reflects() bool {
	return c.Host == "" && c.Reconcile == "" && c.Port.Drive == nil && (c.Info.Verb == "watch" || c.Info.Verb == "list")
}

// subject is what the call listens to: whoever asks for it again has the same one.
func (c *Call) subject() string {
	q := c.Request.URL.Query()
	return c.Port.Name() + " " + c.Cluster + " " + c.Request.URL.Path + " " + q.Get("labelSelector") + " " + q.Get("fieldSelector")
}

// heard takes note of a reply: the program hears again, or has tried in vain.
func (c *Cluster) heard(call *Call, well bool) {
	for i, s := range c.silences {
		if s.Call.subject() == call.subject() {
			c.silences = append(c.silences[:i], c.silences[i+1:]...)
			break
		}
	}
	if !well {
		c.silent(call, c.History.Len()-1)
	}
}

func (c *Cluster) silent(call *Call, tried int) {
	if call.reflects() {
		c.silences = append(c.silences, &Silence{call, c.Sched.Now(), tried})
	}
}

// Silences are the watches that living programs may be waiting to open again.
func (c *Cluster) Silences() []*Silence {
	live := c.silences[:0]
	for _, s := range c.silences {
		if !s.Call.Port.Dead() && c.Sched.Now() < s.Until() {
			live = append(live, s)
		}
	}
	c.silences = live
	return live
}
