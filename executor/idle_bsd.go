//go:build unix && !linux

package executor

func onlyIdle(int) error { return nil } // niceness is all there is
