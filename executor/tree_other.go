//go:build !linux

package executor

import "github.com/shirou/gopsutil/v3/process"

// A processTree knows the main process only: looking for its descendants is
// too costly here to be done every second.
type processTree struct{}

func (*processTree) resident(pid int) int64 {
	m, err := (&process.Process{Pid: int32(pid)}).MemoryInfo()
	if err != nil {
		return 0
	}
	return int64(m.RSS)
}
