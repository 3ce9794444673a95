package usage

import (
	"io/fs"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/state"
)

// The data directory is measured every five minutes, and sooner when someone looks at a result
// older than a minute.
const (
	measureEvery = 5 * time.Minute
	freshFor     = time.Minute
)

// A Disk measures the disk space that the agent and its projects take.
type Disk struct {
	*core.Core

	use     diskUse
	walking bool
	wanted  bool // someone looks at it
	// freed is the number of bytes that were freed since the current measurement began, which may
	// have counted them. If the result is too low, the next measurement corrects it. If it is too
	// high, stored files are lost.
	freed int64
}

// diskUse is the result of measuring the data directory, in bytes.
type diskUse struct {
	total    int64
	projects map[string]int64 // by the name of the project's folder
	slots    map[string]int64 // by the slot's number
	measured time.Time        // zero: not yet
}

// Measure starts measuring the data directory now and then, outside of the loop.
func (d *Disk) Measure(now time.Time, w *core.Waker) {
	next := d.use.measured.Add(max(measureEvery, d.Tick))
	if d.wanted {
		next = now
	}
	switch {
	case now.Before(next):
		w.By(next)
	case !d.walking:
		d.walking, d.freed = true, 0
		go func() { d.Post(DiskMeasured{walk(d.Dir)}) }()
	}
}

// Handle handles an event, if it belongs to this component.
func (d *Disk) Handle(e core.Event) bool {
	switch e := e.(type) {
	case DiskWanted:
		d.wanted = true // the step that follows measures it
	case DiskMeasured:
		d.use, d.walking, d.wanted = e.use, false, false
		d.use.total -= d.freed
		d.look()
		d.Log.Debug("disk measured", logflag.Key, logflag.DiskUsage, "bytes", d.use.total)
	default:
		return false
	}
	return true
}

// Stale reports whether the last measurement is too old for someone who looks at it. A DiskWanted
// event then starts a new one.
func (d *Disk) Stale(now time.Time) bool {
	return !d.wanted && !d.walking && now.Sub(d.use.measured) >= max(freshFor, d.Tick)
}

// Total returns the number of bytes used in all. It is negative if unknown yet.
func (d *Disk) Total() int64 {
	if d.use.measured.IsZero() {
		return -1
	}
	return d.use.total
}

// MeasuredAt returns the time of the last measurement, or zero before the first.
func (d *Disk) MeasuredAt() time.Time { return d.use.measured }

// Excess returns the number of bytes used beyond the preferences' limit. A negative number is the
// space left. It is very negative while unknown.
func (d *Disk) Excess() int64 {
	if d.use.measured.IsZero() || d.Host.DiskTotal <= 0 {
		return math.MinInt64 / 2
	}
	return d.use.total - d.Allowed()
}

// Bound returns the name of the preference that limits the disk most, or "" if unknown.
func (d *Disk) Bound() string {
	if d.use.measured.IsZero() || d.Host.DiskTotal <= 0 {
		return ""
	}
	return d.Prefs.DiskBound(int64(d.Host.DiskTotal), int64(d.Host.DiskFree), d.use.total).Key
}

// Freed takes into account that files of a project were removed, until the disk is
// measured again.
func (d *Disk) Freed(project string, bytes int64) {
	d.use.total -= bytes
	d.freed += bytes
	if of := protocol.EscapeURL(project); d.use.projects[of] > 0 {
		d.use.projects[of] -= bytes
	}
	d.look()
}

// look finds out how much of the disk is free.
func (d *Disk) look() {
	if free, ok := hostinfo.DiskFree(d.Dir); ok {
		d.Host.DiskFree = free
	}
}

// Of returns the number of bytes in a project's folder, or 0 before it is measured.
func (d *Disk) Of(project string) int64 { return d.use.projects[protocol.EscapeURL(project)] }

func walk(dir string) diskUse {
	d := diskUse{projects: make(map[string]int64), slots: make(map[string]int64)}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // count only the visible files
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		d.total += info.Size()
		rel, _ := filepath.Rel(dir, path)
		if parts := strings.Split(filepath.ToSlash(rel), "/"); len(parts) > 2 && parts[0] == core.ProjectsDir {
			d.projects[parts[1]] += info.Size()
		} else if len(parts) > 2 && parts[0] == core.SlotsDir {
			d.slots[parts[1]] += info.Size()
		}
		return nil
	})
	d.measured = time.Now()
	return d
}

// Allowed returns the number of bytes that the agent may use in all.
func (d *Disk) Allowed() int64 {
	return d.Prefs.Disk(int64(d.Host.DiskTotal), int64(d.Host.DiskFree), d.use.total)
}

// with returns the number of bytes in a project's folder and its tasks' slots.
func (d *Disk) with(project string) int64 {
	sum := d.Of(project)
	for _, r := range d.DB.Results.Of(project) {
		if r.Slot != state.NoSlot {
			sum += d.use.slots[strconv.Itoa(r.Slot)]
		}
	}
	return sum
}

// Report returns the disk use to report to a project's server. Before the disk is measured, the
// projects count as using nothing. An old measurement is repeated for the next report.
func (d *Disk) Report(project string, now time.Time) protocol.DiskUsage {
	d.wanted = d.wanted || d.Stale(now)
	var users []prefs.DiskUser
	self := 0
	for u := range d.DB.Projects.All() {
		if u == project {
			self = len(users)
		}
		users = append(users, prefs.DiskUser{Share: d.Accounts[u].ResourceShare, Used: d.with(u)})
	}
	return protocol.DiskUsage{
		UsedTotal: float64(d.use.total), UsedProject: float64(users[self].Used),
		ProjectShare: float64(prefs.DiskShares(d.Allowed(), users)[self]),
	}
}
