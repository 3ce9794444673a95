//go:build !linux

package executor

// sessions is empty: on this system, sessions do not influence priorities.
type sessions struct{}

type ownSessions struct{ all *sessions }

func (*processes) lowerSessions(int) {}
