package guard

// Check gives the denial of a call alone.
func (g *Guard) Check(c Call) (Denial, bool) {
	out := g.Examine(c)
	if out.Denial == nil {
		return Denial{}, false
	}
	return *out.Denial, true
}
