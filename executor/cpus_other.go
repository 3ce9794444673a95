//go:build !linux

package executor

func runOn(int, []int) error { return nil } // Task.CPUs is for Linux
