package dispatcher

// SetMaxOpen changes how many asks of one agent may wait.
func (d *Dispatcher) SetMaxOpen(n int) { d.crowd.most = n }
