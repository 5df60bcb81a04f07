package standing

// Agents returns the agents for whom an allowance is kept.
func (l *Allowances) Agents() []string { return l.by.agents() }

// Ahead returns the number of asks that are known beyond what the feed has told.
func (n *Newest) Ahead() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ahead)
}
