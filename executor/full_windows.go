package executor

// diskFull returns false: free space is not checked on Windows.
func (e *Executor) diskFull() bool { return false }
