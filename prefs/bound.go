package prefs

import (
	"cmp"

	"github.com/starling-grid/starling/internal/words"
)

// A Bound is the preference that limits disk, memory or CPUs most on this computer. The zero
// value means that none does.
type Bound struct {
	Key  string     `json:"key"`  // by its name in prefs.toml
	Text words.Text `json:"text"` // its setting and the resulting amount here, as a part of a sentence
	Cure words.Text `json:"cure"` // the cure, or empty if no preference helps
}

// In returns the bound with its texts in a language.
func (b Bound) In(l words.Language) Bound {
	b.Text, b.Cure = b.Text.Only(l), b.Cure.Only(l)
	return b
}

// Aside returns Text in parentheses with a space before it, or the empty text for the zero value.
func (b Bound) Aside() words.Text {
	if !b.Text.Is() {
		return words.Text{}
	}
	return words.T(" ({bound})", "bound", b.Text)
}

// DiskBound is the preference that allows the least disk, given what Disk is given.
func (p Prefs) DiskBound(total, free, used int64) Bound {
	kept, part := float64(used+free)-p.DiskMinFreeGB*GB, float64(total)*p.DiskMaxUsedPct/100
	switch {
	case p.DiskMaxUsedGB > 0 && p.DiskMaxUsedGB*GB <= min(kept, part):
		return Bound{
			"disk_max_used_gb", words.Plain("disk_max_used_gb = " + words.Float(p.DiskMaxUsedGB)),
			words.T("Set {key} higher.", "key", "disk_max_used_gb"),
		}
	case part < kept:
		return Bound{
			"disk_max_used_pct", words.T("{setting}, of {bytes}", "setting", "disk_max_used_pct = "+words.Float(p.DiskMaxUsedPct), "bytes", words.Bytes(total)),
			words.T("Set {key} higher.", "key", "disk_max_used_pct"),
		}
	}
	return Bound{
		"disk_min_free_gb", words.T("{setting}, with {bytes} free", "setting", "disk_min_free_gb = "+words.Float(p.DiskMinFreeGB), "bytes", words.Bytes(free)),
		words.T("Free some disk space, or set disk_min_free_gb lower."),
	}
}

// MemoryBound returns the preference that limits memory, while the computer is in use or not.
func (p Prefs) MemoryBound(total int64, inUse bool) Bound {
	key, pct, text := "ram_max_used_idle_pct", p.RAMMaxUsedIdlePct, "{setting} while the computer is idle, of {bytes}"
	if inUse {
		key, pct, text = "ram_max_used_busy_pct", p.RAMMaxUsedBusyPct, "{setting} while the computer is in use, of {bytes}"
	}
	b := Bound{Key: key, Text: words.T(text, "setting", key+" = "+words.Float(pct), "bytes", words.Bytes(total))}
	if pct > 0 && pct < 100 {
		b.Cure = words.T("Set {key} higher.", "key", key)
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
	return Bound{Key: key, Text: words.Plain(key + " = " + words.Float(v)), Cure: words.T("To allow more CPUs, set {key} higher.", "key", key)}
}

// MostMemory is MemoryBound of whichever state of the computer allows more.
func (p Prefs) MostMemory(total int64) Bound {
	busy, idle := cmp.Or(p.RAMMaxUsedBusyPct, 100), cmp.Or(p.RAMMaxUsedIdlePct, 100)
	return p.MemoryBound(total, busy > idle)
}
