// Package prefs holds the volunteer's computing preferences: what they are
// called, what they default to, how the file is read, and what they mean. It is
// policy: values in, values out.
//
// It knows only preferences that have an effect. A key of BOINC's that has none
// yet is refused like any unknown one, rather than taken and ignored.
package prefs

import (
	"errors"
	"time"

	"github.com/starling-grid/starling/internal/tomlfile"
	"github.com/starling-grid/starling/protocol/bxml"
)

// Prefs are computing preferences, with BOINC's names, units and defaults.
type Prefs struct {
	// MaxNCPUsPct is the share of the CPUs that may be used, in percent; at
	// least one CPU always is. 0 means all.
	MaxNCPUsPct float64 `toml:"max_ncpus_pct"`
	// WorkBufMinDays is the low-water mark: more work is fetched when less than
	// this is queued. Days.
	WorkBufMinDays float64 `toml:"work_buf_min_days"`
	// WorkBufAdditionalDays and WorkBufMinDays add up to the high-water mark, up
	// to which work is fetched. Days.
	WorkBufAdditionalDays float64 `toml:"work_buf_additional_days"`
	// SwitchMinutes is how long a task runs before another project's may take its
	// CPU, in minutes.
	SwitchMinutes float64 `toml:"cpu_scheduling_period_minutes"`
	// DiskInterval is the least time between checkpoints that applications are
	// asked to keep, in seconds.
	DiskInterval float64 `toml:"disk_interval"`
}

// Default returns what holds when the volunteer says nothing.
func Default() Prefs {
	return Prefs{
		MaxNCPUsPct:           100,
		WorkBufMinDays:        0.1,
		WorkBufAdditionalDays: 0.5,
		SwitchMinutes:         60,
		DiskInterval:          60,
	}
}

// Parse reads a preference file called name. The error joins every fault, each
// with file, line and key; with an error the preferences must not be used.
func Parse(name string, src []byte) (Prefs, error) {
	p := Default()
	lines, err := tomlfile.Decode(name, src, &p)
	errs := []error{err}
	for _, v := range []struct {
		key         string
		value       float64
		least, most float64
	}{
		{"max_ncpus_pct", p.MaxNCPUsPct, 0, 100},
		{"work_buf_min_days", p.WorkBufMinDays, 0, 10},
		{"work_buf_additional_days", p.WorkBufAdditionalDays, 0, 10},
		{"cpu_scheduling_period_minutes", p.SwitchMinutes, 1, 1440},
		{"disk_interval", p.DiskInterval, 0, 86400},
	} {
		if !(v.value >= v.least && v.value <= v.most) {
			errs = append(errs, lines.Errorf(v.key, "%v is not within %v and %v", v.value, v.least, v.most))
		}
	}
	return p, errors.Join(errs...)
}

// CPUs returns how many of n CPUs may be used.
func (p Prefs) CPUs(n int) int {
	if p.MaxNCPUsPct == 0 {
		return max(n, 1)
	}
	return max(1, min(n, int(float64(n)*p.MaxNCPUsPct/100)))
}

// LowWater is the low-water mark of queued work, for each CPU.
func (p Prefs) LowWater() time.Duration { return days(p.WorkBufMinDays) }

// HighWater is the high-water mark of queued work, for each CPU.
func (p Prefs) HighWater() time.Duration { return days(p.WorkBufMinDays + p.WorkBufAdditionalDays) }

// Slice is how long a task runs before another project's may take its CPU.
func (p Prefs) Slice() time.Duration {
	return time.Duration(p.SwitchMinutes * float64(time.Minute))
}

// CheckpointPeriod is the least time between checkpoints.
func (p Prefs) CheckpointPeriod() time.Duration {
	return time.Duration(p.DiskInterval * float64(time.Second))
}

// XML returns the preferences as servers and applications read them: the
// content of a <global_preferences> element.
func (p Prefs) XML() string {
	var w bxml.Writer
	w.Text("source_project", "")
	w.Float("mod_time", 0)
	w.Float("max_ncpus_pct", p.MaxNCPUsPct)
	w.Float("work_buf_min_days", p.WorkBufMinDays)
	w.Float("work_buf_additional_days", p.WorkBufAdditionalDays)
	w.Float("cpu_scheduling_period_minutes", p.SwitchMinutes)
	w.Float("disk_interval", p.DiskInterval)
	return string(w.Bytes())
}

func days(d float64) time.Duration { return time.Duration(d * 24 * float64(time.Hour)) }
