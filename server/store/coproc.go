package store

import "encoding/json"

// A Coproc is the coprocessors of one kind that a host has.
type Coproc struct {
	Kind      string  `json:"type"` // BOINC's name for it
	Name      string  `json:"name,omitempty"`
	Count     int     `json:"count"`
	Memory    float64 `json:"memory,omitempty"` // bytes of each (0: not reported)
	Driver    string  `json:"driver,omitempty"` // its version
	PeakFlops float64 `json:"peak_flops,omitempty"`
}

// Coprocessors returns the coprocessors of the host. It leaves out values that it cannot read.
func (h *Host) Coprocessors() (list []Coproc) {
	_ = json.Unmarshal([]byte(h.Coprocs), &list)
	return list
}

// SetCoprocessors replaces the coprocessors of the host.
func (h *Host) SetCoprocessors(list []Coproc) {
	h.Coprocs = ""
	if len(list) == 0 {
		return
	}
	if text, err := json.Marshal(list); err == nil { // infinite numbers alone cannot be written
		h.Coprocs = string(text)
	}
}
