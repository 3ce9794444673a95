//go:build !linux

package executor

// sessions are of no account for priorities here.
type sessions struct{}

func (*processes) lowerSessions(int) {}
