package mask

// Counting returns a copy of the masker that adds to n the bytes of commands that it reads as words.
func (m Masker) Counting(n *int) Masker {
	m.read = n
	return m
}
