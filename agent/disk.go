package agent

import (
	"io/fs"
	"path/filepath"
	"strings"
	"time"

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
	if next := a.disk.measured.Add(max(measureEvery, a.cfg.tick())); now.Before(next) {
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

// diskReport is what a project's server is told. Before the disk is measured the
// projects count as taking nothing.
func (a *Agent) diskReport(project string) protocol.DiskUsage {
	var users []prefs.DiskUser
	self := 0
	for u := range a.db.Projects.All() {
		if u == project {
			self = len(users)
		}
		users = append(users, prefs.DiskUser{Share: a.accounts[u].ResourceShare, Used: a.disk.projects[protocol.EscapeURL(u)]})
	}
	allowed := a.prefs.Disk(int64(a.host.DiskTotal), int64(a.host.DiskFree), a.disk.total)
	return protocol.DiskUsage{
		UsedTotal: float64(a.disk.total), UsedProject: float64(users[self].Used),
		ProjectShare: float64(prefs.DiskShares(allowed, users)[self]),
	}
}

// folderSizes remembers how large folders are, since tools ask often.
type folderSizes struct {
	guard chan struct{} // holds one token
	known map[string]folderSize
}

type folderSize struct {
	bytes int64
	at    time.Time
}

// sizeAge is how old an answer may be.
const sizeAge = 30 * time.Second

func newFolderSizes() *folderSizes {
	f := &folderSizes{make(chan struct{}, 1), make(map[string]folderSize)}
	f.guard <- struct{}{}
	return f
}

// of returns how many bytes the files below a folder take, as of half a minute
// ago at most.
func (f *folderSizes) of(dir string) int64 {
	<-f.guard
	defer func() { f.guard <- struct{}{} }()
	if s := f.known[dir]; time.Since(s.at) < sizeAge {
		return s.bytes
	}
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what has gone meanwhile takes nothing
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	f.known[dir] = folderSize{sum, time.Now()}
	return sum
}
