package shell

// Steps returns how many steps were spent.
func (b *Budget) Steps() int { return b.steps }
