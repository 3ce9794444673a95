//go:build linux && !amd64 && !arm64

package sandbox

const filtered = false

func restrictSyscalls(bool, bool) (listener int, err error) { return -1, nil }

func supervise(int, Policy) {}
