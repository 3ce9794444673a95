//go:build !linux

package executor

import (
	"os/exec"
	"time"

	"github.com/shirou/gopsutil/v3/process"
)

// A processTree is empty. On Windows, the job object lists the processes that belong to a task. On other systems,
// searching for descendants every second would be too costly, so only the main process is measured.
type processTree struct{}

type family struct{}

func adoptOrphans() error { return nil }

func begin(_ *exec.Cmd, f func() error) error { return f() }

func ended(int) {}

func (*processTree) look(bool) family { return family{} }

func (family) adopt(_ []int, others map[int]int64) map[int]int64 { return others }

func (family) relatives(int, map[int]int64) map[int]int64 { return nil }

func (family) usage(pid int, others map[int]int64) (resident, virtual int64, cpu time.Duration) {
	for other := range others {
		r, v, c := usageOf(other)
		resident, virtual, cpu = resident+r, virtual+v, cpu+c
	}
	r, v, c := usageOf(pid)
	return resident + r, virtual + v, cpu + c
}

func usageOf(pid int) (resident, virtual int64, cpu time.Duration) {
	p := &process.Process{Pid: int32(pid)} //nolint:gosec // process ids are that small
	if m, err := p.MemoryInfo(); err == nil {
		resident, virtual = int64(m.RSS), int64(m.VMS) //nolint:gosec // so is memory
	}
	if t, err := p.Times(); err == nil {
		cpu = time.Duration((t.User + t.System) * float64(time.Second))
	}
	return resident, virtual, cpu
}
