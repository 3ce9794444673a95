package executor

// diskFull reports whether there is hardly room left where slots are; here it is not
// looked at.
func (e *Executor) diskFull() bool { return false }
