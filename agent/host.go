package agent

import (
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/state"
)

// knowHost reads the computer's properties, and gives it an identity and measured speeds if it does
// not have them yet.
func (a *Agent) knowHost() error {
	a.core.Host = a.cfg.probe()
	h, known := a.core.DB.Hosts.Get(state.Self)
	machine := hostinfo.Machine()
	copied := h.Machine != "" && machine != "" && machine != h.Machine
	if !known || copied {
		var id [16]byte
		_, _ = rand.Read(id[:])
		h.CPID = hex.EncodeToString(id[:])
	}
	if !known {
		h.InstalledAt = time.Now()
	}
	if machine != "" {
		h.Machine = machine
	}
	if copied {
		a.core.Log.Warn("the data directory was copied from another computer; this computer is registered with its projects as a new one and reports the copied tasks; if the other computer still runs, both compute them", "data", a.core.Dir)
	}
	if h.Fpops == 0 {
		s := hostinfo.Measure()
		h.Fpops, h.Iops, h.Measured = s.Fpops, s.Iops, time.Now()
		a.core.Log.Info("computer measured", "gflops_per_cpu", s.Fpops/1e9, "giops_per_cpu", s.Iops/1e9)
	}
	a.core.Host.HostCPID, a.core.Host.Fpops, a.core.Host.Iops, a.core.Host.Calculated = h.CPID, h.Fpops, h.Iops, h.Measured
	a.core.Host.Membw = 1e9 // the value that BOINC's clients send, which nothing reads
	a.rules.Probed = a.core.Host
	a.rules.NameHost()
	return a.core.DB.Update(func(tx *state.Tx) {
		a.core.DB.Hosts.Put(tx, state.Self, h)
		for u, p := range a.core.DB.Projects.All() {
			if copied { // the id is the other computer's
				p.HostID, p.RPCSeqno = 0, 0
				a.core.DB.Projects.Put(tx, u, p)
			}
		}
	})
}
