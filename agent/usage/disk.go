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

// The data directory is walked over every five minutes, and sooner when someone looks
// at what was found longer ago than a minute.
const (
	measureEvery = 5 * time.Minute
	freshFor     = time.Minute
)

// A Disk is how much disk the agent and its projects take.
type Disk struct {
	*core.Core

	use     diskUse
	walking bool
	wanted  bool // someone looks at it
	// freed is how many bytes were freed since the walk under way began, which may have
	// counted them: too little is cured by the next walk, too much costs stored files.
	freed int64
}

// diskUse is what a walk over the data directory found, in bytes.
type diskUse struct {
	total    int64
	projects map[string]int64 // by the name of the project's folder
	slots    map[string]int64 // by the slot's number
	measured time.Time        // zero: not yet
}

// Measure has the data directory walked over now and then, beside the loop.
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

// Handle takes in an event, if it is one of this component's.
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

// Stale reports whether what was found is older than someone who looks at it expects. A
// DiskWanted event then has the disk measured again.
func (d *Disk) Stale(now time.Time) bool {
	return !d.wanted && !d.walking && now.Sub(d.use.measured) >= max(freshFor, d.Tick)
}

// Total is how many bytes are used in all; negative if that is not known yet.
func (d *Disk) Total() int64 {
	if d.use.measured.IsZero() {
		return -1
	}
	return d.use.total
}

// MeasuredAt is when the disk was measured last; zero: not yet.
func (d *Disk) MeasuredAt() time.Time { return d.use.measured }

// Excess is how many bytes more are used than the preferences allow; negative: so many
// are left, and very negative while that is not known.
func (d *Disk) Excess() int64 {
	if d.use.measured.IsZero() || d.Host.DiskTotal <= 0 {
		return math.MinInt64 / 2
	}
	return d.use.total - d.Allowed()
}

// Bound is the name of the preference that limits the disk most; "" if that is not known.
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

// Of is how many bytes a project's folder takes; 0 before it is measured.
func (d *Disk) Of(project string) int64 { return d.use.projects[protocol.EscapeURL(project)] }

func walk(dir string) diskUse {
	d := diskUse{projects: make(map[string]int64), slots: make(map[string]int64)}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // count what can be seen
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

// Allowed is how many bytes the agent may use in all.
func (d *Disk) Allowed() int64 {
	return d.Prefs.Disk(int64(d.Host.DiskTotal), int64(d.Host.DiskFree), d.use.total)
}

// with is how many bytes a project's folder and its tasks' slots take.
func (d *Disk) with(project string) int64 {
	sum := d.Of(project)
	for _, r := range d.DB.Results.Of(project) {
		if r.Slot != state.NoSlot {
			sum += d.use.slots[strconv.Itoa(r.Slot)]
		}
	}
	return sum
}

// Report is what a project's server is told. Before the disk is measured the
// projects count as taking nothing; what was found long ago is measured again for the
// next report.
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
