package match

import (
	"strings"

	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/server/store"
)

// fileHere is the status of a sticky file in a request that the host has.
const fileHere = 1

// heldBy are the names of the sticky files that a host has.
func heldBy(req *protocol.SchedulerRequest) map[string]bool {
	if len(req.Files) == 0 {
		return nil
	}
	held := make(map[string]bool, len(req.Files))
	for i := range req.Files {
		if req.Files[i].Status == fileHere {
			held[req.Files[i].Name] = true
		}
	}
	return held
}

// Local returns the size in bytes of a candidate's input files that the host has already, at least
// 1 if it has any. It is 0 for a candidate that the host may not have. Of the results that could be
// sent now, those with the greatest value save the most transfers.
//
// Source: BOINC's locality scheduling (sched/sched_locality.cpp) uses the names of files that are
// part of the names of results. This function uses the files themselves.
func (m *Match) Local(c *store.Candidate) (bytes int64) {
	if len(m.held) == 0 {
		return 0
	}
	e, err := protocol.ParseElements([]byte(c.XMLDoc))
	if err != nil {
		return 0
	}
	for i := range e.Files {
		if f := &e.Files[i]; m.held[f.Name] {
			bytes += max(f.NBytes, 1)
		}
	}
	if bytes == 0 {
		return 0
	}
	if _, why := m.fit(c); why != nil {
		return 0
	}
	return bytes
}

// HoldsAny reports whether the host has sticky files at all.
func (h *Host) HoldsAny() bool { return len(h.held) > 0 }

// lacks reports whether a candidate needs a file that was made on some host and that this host does
// not have. The server cannot send such a file.
func (h *Host) lacks(c *store.Candidate) bool {
	if !strings.Contains(c.XMLDoc, "<generated_locally") {
		return false
	}
	e, err := protocol.ParseElements([]byte(c.XMLDoc))
	if err != nil {
		return false // an unreadable one is refused when it is to be sent
	}
	for i := range e.Files {
		if f := &e.Files[i]; f.GeneratedLocally && len(f.DownloadURLs) == 0 && !h.held[f.Name] {
			return true
		}
	}
	return false
}
