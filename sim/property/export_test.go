package property

// Turn has the rule decide the same whatever it finds, until back is called.
func Turn(rule string, to bool) (back func()) {
	before := breaks
	breaks = func(r string, found bool) bool {
		if r == rule {
			return to
		}
		return before(r, found)
	}
	return func() { breaks = before }
}
