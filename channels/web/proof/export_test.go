package proof

// Used is how many nonces are remembered.
func (v *Verifier) Used() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.used)
}
