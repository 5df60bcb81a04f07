package standing

// Ahead is how many asks are known further than the feed tells.
func (n *Newest) Ahead() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ahead)
}
