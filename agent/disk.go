package agent

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
)

// measureEvery is how often the data directory is walked over.
const measureEvery = 5 * time.Minute

// diskUse is what the agent and its projects have taken, in bytes.
type diskUse struct {
	total    int64
	projects map[string]int64 // by the name of the project's folder
	measured time.Time        // zero: not yet
	walking  bool
}

// measureDisk has the data directory walked over now and then, beside the loop.
func (a *Agent) measureDisk(now time.Time, w *waker) {
	if next := a.disk.measured.Add(measureEvery); now.Before(next) {
		w.by(next)
		return
	}
	if a.disk.walking {
		return
	}
	a.disk.walking = true
	go func() {
		d := walk(a.cfg.DataDir)
		a.post(func() {
			d.measured = time.Now()
			a.disk = d
			a.log.Debug("disk measured", logflag.Key, logflag.DiskUsage, "bytes", d.total)
		})
	}()
}

func walk(dir string) diskUse {
	d := diskUse{projects: make(map[string]int64)}
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
		if parts := strings.Split(filepath.ToSlash(rel), "/"); len(parts) > 2 && parts[0] == projectsDir {
			d.projects[parts[1]] += info.Size()
		}
		return nil
	})
	return d
}

// DiskFull is the code of computing being denied since the preferences grant no
// more disk.
const DiskFull = "disk_full"

// diskPermission denies computing while more disk is used than the preferences
// allow.
func (a *Agent) diskPermission(p prefs.Permission) prefs.Permission {
	free, ok := hostinfo.DiskFree(a.cfg.DataDir)
	if p.Denied() || !ok || a.disk.measured.IsZero() {
		return p
	}
	allowed := a.prefs.Disk(int64(a.host.DiskTotal), int64(free), a.disk.total)
	if a.disk.total <= allowed {
		return p
	}
	const mb = 1 << 20
	return prefs.Permission{Code: DiskFull, Why: fmt.Sprintf(
		"The projects' files take %.1f MB of disk and the preferences allow %.1f MB (disk_max_used_gb, disk_max_used_pct, disk_min_free_gb).",
		float64(a.disk.total)/mb, float64(allowed)/mb)}
}

// diskReport is what a project's server is told.
func (a *Agent) diskReport(project string) protocol.DiskUsage {
	d := protocol.DiskUsage{ProjectShare: a.host.DiskFree}
	if !a.disk.measured.IsZero() {
		d.UsedTotal, d.UsedProject = float64(a.disk.total), float64(a.disk.projects[protocol.EscapeURL(project)])
		allowed := a.prefs.Disk(int64(a.host.DiskTotal), int64(a.host.DiskFree), a.disk.total)
		d.ProjectShare = min(a.host.DiskFree, max(0, float64(allowed-a.disk.total)))
	}
	return d
}
