package prefs

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/starling-grid/starling/internal/words"
)

// A Bound is the preference that limits disk, memory or CPUs most on this computer. The zero
// value means that none does.
type Bound struct {
	Key  string `json:"key"`  // by its name in prefs.toml
	Text string `json:"text"` // its setting and the resulting amount here, as a part of a sentence
	Cure string `json:"cure"` // the cure, or "" if no preference helps
}

// Aside returns Text in parentheses with a space before it, or "" for the zero value.
func (b Bound) Aside() string {
	if b.Text == "" {
		return ""
	}
	return " (" + b.Text + ")"
}

// DiskBound is the preference that allows the least disk, given what Disk is given.
func (p Prefs) DiskBound(total, free, used int64) Bound {
	kept, part := float64(used+free)-p.DiskMinFreeGB*GB, float64(total)*p.DiskMaxUsedPct/100
	switch {
	case p.DiskMaxUsedGB > 0 && p.DiskMaxUsedGB*GB <= min(kept, part):
		return Bound{
			"disk_max_used_gb", "disk_max_used_gb = " + plainNumber(p.DiskMaxUsedGB),
			"Set disk_max_used_gb higher.",
		}
	case part < kept:
		return Bound{
			"disk_max_used_pct", fmt.Sprintf("disk_max_used_pct = %s, of %s", plainNumber(p.DiskMaxUsedPct), words.Bytes(total)),
			"Set disk_max_used_pct higher.",
		}
	}
	return Bound{
		"disk_min_free_gb", fmt.Sprintf("disk_min_free_gb = %s, with %s free", plainNumber(p.DiskMinFreeGB), words.Bytes(free)),
		"Free some disk space, or set disk_min_free_gb lower.",
	}
}

// MemoryBound returns the preference that limits memory, while the computer is in use or not.
func (p Prefs) MemoryBound(total int64, inUse bool) Bound {
	key, pct, when := "ram_max_used_idle_pct", p.RAMMaxUsedIdlePct, "idle"
	if inUse {
		key, pct, when = "ram_max_used_busy_pct", p.RAMMaxUsedBusyPct, "in use"
	}
	b := Bound{Key: key, Text: fmt.Sprintf("%s = %s while the computer is %s, of %s", key, plainNumber(pct), when, words.Bytes(total))}
	if pct > 0 && pct < 100 {
		b.Cure = "Set " + key + " higher."
	}
	return b
}

// CPUBound returns the preference that keeps tasks from some of n CPUs, or the zero Bound if they
// may use all.
func (p Prefs) CPUBound(n int, inUse bool) Bound {
	if p.CPUs(n, inUse) == n {
		return Bound{}
	}
	key, v := "niu_max_ncpus_pct", p.NiuMaxNCPUsPct
	if inUse || p.NiuMaxNCPUsPct == p.MaxNCPUsPct {
		key, v = "max_ncpus_pct", p.MaxNCPUsPct
	}
	without := p
	without.MaxCPUs = 0
	if without.CPUs(n, inUse) > p.CPUs(n, inUse) {
		key, v = "max_cpus", p.MaxCPUs
	}
	return Bound{Key: key, Text: key + " = " + plainNumber(v), Cure: "To allow more CPUs, set " + key + " higher."}
}

// MostMemory is MemoryBound of whichever state of the computer allows more.
func (p Prefs) MostMemory(total int64) Bound {
	busy, idle := cmp.Or(p.RAMMaxUsedBusyPct, 100), cmp.Or(p.RAMMaxUsedIdlePct, 100)
	return p.MemoryBound(total, busy > idle)
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
