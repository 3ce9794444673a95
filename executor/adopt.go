package executor

import (
	"bytes"
	"time"

	"github.com/starling-grid/starling/protocol/appipc"
)

// adopt reports whether the slot holds a run that finished without the agent's
// taking note: it was killed in between, or could not write it down. Such a run
// is judged as it lies there. Starting the application again would at best
// repeat the work since its last checkpoint, and for a plain program all of it.
//
// Upstream starts the application again.
func (r *run) adopt() bool {
	b, err := r.slot.read(appipc.FinishFile)
	// An empty file is what a full disk makes of any.
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

// lastCPUTime is what the application told last. Its message stays in the
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
