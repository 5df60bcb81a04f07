package proof

// Used returns the number of nonces remembered.
func (v *Verifier) Used() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.used)
}
