package executor

import (
	"bytes"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// adopt reports whether the slot contains a run that has finished unnoticed, because the agent was
// killed in between or could not record the end. Such a run is judged by the files in the slot.
// Starting the application again would repeat the work since its last checkpoint, or all of it if
// the program does not make checkpoints.
//
// Upstream starts the application again.
func (r *run) adopt() bool {
	b, err := r.slot.read(appipc.FinishFile)
	// A full disk leaves empty files behind.
	if err != nil || len(b) == 0 || appipc.ParseFinish(b).Status != 0 {
		return false
	}
	cpu := r.slot.lastCPUTime()
	r.update(func(p *Progress) {
		p.CPUTime = max(p.CPUTime, cpu)
		p.Fraction = 1
	})
	r.polled = time.Now()
	r.log.Info("result had already finished")
	return true
}

// lastCPUTime returns the CPU time in the application's last status message, which stays in the
// shared memory after it was read.
func (s *slot) lastCPUTime() time.Duration {
	mem, err := s.read(appipc.MmapFile)
	if err != nil || len(mem) < appipc.MmapSize {
		return 0
	}
	at := int(appipc.AppStatus) * appipc.ChannelSize
	text, _, _ := bytes.Cut(mem[at+1:at+appipc.ChannelSize], []byte{0})
	return appipc.ParseStatus(string(text)).CPUTime
}
