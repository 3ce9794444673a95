package setting

import (
	"time"

	"github.com/starling-grid/starling/protocol"
)

// Seconds, Minutes, Hours and Days are times as server.toml has them.
type (
	Seconds float64
	Minutes float64
	Hours   float64
	Days    float64
)

func (s Seconds) Duration() time.Duration { return protocol.Seconds(float64(s)) }
func (m Minutes) Duration() time.Duration { return protocol.Seconds(float64(m) * 60) }
func (h Hours) Duration() time.Duration   { return protocol.Seconds(float64(h) * 3600) }
func (d Days) Duration() time.Duration    { return protocol.Seconds(float64(d) * 86400) }

// Megabytes is a size as server.toml has it.
type Megabytes float64

// Bytes returns the size in bytes.
func (m Megabytes) Bytes() int64 { return int64(m * 1e6) }
