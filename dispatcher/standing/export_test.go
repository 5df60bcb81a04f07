package standing

// Agents are those of whom an allowance is kept.
func (l *Allowances) Agents() []string { return l.by.agents() }

// Ahead is how many asks are known further than the feed tells.
func (n *Newest) Ahead() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ahead)
}
