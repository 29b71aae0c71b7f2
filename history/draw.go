package history

import "fmt"

// Draw is a value that the scenario drew from a generator. It is not an event, because nothing
// happened in the world, and a draw must not delay quiescence.
type Draw struct {
	Event int    `json:"event"` // Index of the event that came next
	At    Time   `json:"at"`
	Label string `json:"label"`
	Value string `json:"value"` // for people
}

// Drew records a draw.
func (h *History) Drew(d Draw) {
	d.Event = h.Len()
	h.draws = append(h.draws, d)
}

// Draws are the values that the scenario drew, in order.
func (h *History) Draws() []Draw { return h.draws }

func (d Draw) line() string {
	return fmt.Sprintf("%-12s %-16s draws %s: %s", Moment(d.At), "user", d.Label, d.Value)
}
