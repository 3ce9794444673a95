//go:build unix && !linux

package executor

func onlyIdle(int) error { return nil } // only niceness exists here
