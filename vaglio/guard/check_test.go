package guard

// Check returns only the denial of a call.
func (g *Guard) Check(c Call) (Denial, bool) {
	out := g.Examine(c)
	if out.Denial == nil {
		return Denial{}, false
	}
	return *out.Denial, true
}
