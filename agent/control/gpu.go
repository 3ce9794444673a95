package control

import (
	"fmt"
	"strings"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/resource"
)

// A GPU has the readings of the sensors of a coprocessor that tasks may use.
type GPU struct {
	Type       string   `json:"type"` // by BOINC's name
	Number     int      `json:"device_num"`
	Name       string   `json:"name,omitempty"`
	Celsius    float64  `json:"celsius,omitempty"`           // 0: not known
	Busy       *float64 `json:"busy,omitempty"`              // part of the time in which it computed, 0 to 1 (nil: not known)
	MemoryUsed int64    `json:"memory_used_bytes,omitempty"` // by all programs
	Memory     int64    `json:"memory_bytes,omitempty"`      // 0: not known
}

// String returns that in words for people: "NVIDIA GPU 0 is at 71 °C, 98% busy, with 5 GB of 12 GB
// of memory in use".
func (g GPU) String() string {
	var facts []string
	if g.Celsius > 0 {
		facts = append(facts, fmt.Sprintf("at %.0f °C", g.Celsius))
	}
	if g.Busy != nil {
		facts = append(facts, fmt.Sprintf("%.0f%% busy", 100**g.Busy))
	}
	if g.Memory > 0 {
		facts = append(facts, fmt.Sprintf("with %s of %s of memory in use", words.Bytes(g.MemoryUsed), words.Bytes(g.Memory)))
	}
	return fmt.Sprintf("%v %d is %s", resource.Kind(g.Type), g.Number, strings.Join(facts, ", "))
}
