package gpus

// Runs reports whether a child was running when m last looked.
func (m *Meter) Runs() bool { return m.child != nil }
