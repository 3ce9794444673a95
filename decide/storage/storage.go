// Package storage decides which files of projects stay on the computer, and which may be fetched
// although no task needs them. A project may keep files here between its tasks, which are called
// sticky. It is policy: values in, values out.
//
// A file that a task, an app version or a transfer needs always stays. Any other file that is not
// sticky is removed. A sticky one is removed when its lifetime is over, when it could not be
// downloaded, or when a limit of the volunteer requires its room, the least recently used first. A
// file that is ordered displaces only files of its own project.
package storage

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/starling-grid/starling/internal/words"
)

// A File is one file of a project.
type File struct {
	Project int // index of the project in Snapshot.Projects
	Name    string
	Bytes   int64     // that it takes, or will (0 if unknown)
	Sticky  bool      // its project wants it kept
	Until   time.Time // end of its sticky lifetime (zero if none)
	Used    time.Time // when a task last had it, or else when it came or was ordered
	Needed  bool      // by a task, an app version, or a transfer that has to be finished
	Status  Status
}

// A Status is the presence of a file here.
type Status int

// The states of a file.
const (
	Present   Status = iota
	Ordered          // not here, and to be fetched
	Nowhere          // not here, and there is nowhere to fetch it from
	HadFailed        // it could not be downloaded, or was refused
)

// FailedFor is the time for which a failed file order is remembered, so that the failure can be
// reported to its project.
const FailedFor = 24 * time.Hour

// A Project has files here.
type Project struct {
	Limit int64 // bytes that its sticky files may take (0: no limit)
}

// A Snapshot is all that is looked at.
type Snapshot struct {
	Now      time.Time
	Projects []Project
	Files    []File
	Limit    int64 // bytes that the sticky files of all projects may take (0: no limit)
	// Excess is the number of bytes on the disk that the agent uses beyond the preferences' limit.
	// A negative number is the space left.
	Excess int64
	Bound  string // the preference that limits the disk most ("" if unknown)
}

// A Code names why a file stays or goes. The zero Code: it stays.
type Code string

// Why files go.
const (
	Unneeded     Code = "unneeded"      // not sticky, and nothing needs it
	Expired      Code = "expired"       // its lifetime is over
	Lost         Code = "lost"          // it is not here, and cannot be downloaded
	ProjectLimit Code = "project_limit" // the volunteer's, for the sticky files of its project
	OverallLimit Code = "limit"         // likewise, for the files of all projects
	DiskLimit    Code = "disk"          // the preferences about the disk
)

// A Verdict is the decision about a file.
type Verdict struct {
	Code Code
	// Refused: it is ordered, is not fetched, and stays on record with the reason.
	Refused bool
}

// Goes reports whether the file and its record are removed.
func (v Verdict) Goes() bool { return v.Code != "" && !v.Refused }

// Text returns the reason, for people, in words that follow "the file was removed:" or "the file
// was refused:".
func (v Verdict) Text(s Snapshot, f File) string {
	switch v.Code {
	case Expired:
		return "the time for which the project wanted it kept is over"
	case Lost:
		return "it is not on this computer and cannot be downloaded"
	case ProjectLimit:
		return fmt.Sprintf("the project's stored files may take %s (max_sticky_gb in its account file)", words.Bytes(s.Projects[f.Project].Limit))
	case OverallLimit:
		return fmt.Sprintf("stored files may take %s (max_sticky_gb in the preferences)", words.Bytes(s.Limit))
	case DiskLimit:
		return "the preferences allow no more disk space (" + cmp.Or(s.Bound, "disk_max_used_gb, disk_max_used_pct, disk_min_free_gb") + ")"
	case Unneeded:
		return "no task needs it"
	}
	return ""
}

// A Plan has the decisions about the files.
type Plan struct {
	Verdicts []Verdict // one for each file
	Again    time.Time // when to look again, though nothing else changes (zero: never)
}

// Decide returns the decision about each file. The order of the files does not matter.
func Decide(s Snapshot) Plan {
	d := decider{Snapshot: s, plan: Plan{Verdicts: make([]Verdict, len(s.Files))}, of: make([]int64, len(s.Projects))}
	d.retire()
	d.admit()
	for p, project := range s.Projects {
		if project.Limit > 0 {
			d.shrink(ProjectLimit, d.of[p]-project.Limit, func(f File) bool { return f.Project == p })
		}
	}
	all := func(File) bool { return true }
	if s.Limit > 0 {
		d.shrink(OverallLimit, d.total()-s.Limit, all)
	}
	d.shrink(DiskLimit, d.Excess, all)
	return d.plan
}

type decider struct {
	Snapshot
	plan Plan
	of   []int64 // bytes of sticky files that stay so far, by project
}

func (d *decider) total() (sum int64) {
	for _, n := range d.of {
		sum += n
	}
	return sum
}

// retire removes files that are not wanted any more, and counts the others.
func (d *decider) retire() {
	for i, f := range d.Files {
		end := f.Until
		if f.Status == HadFailed {
			if at := f.Used.Add(FailedFor); end.IsZero() || at.Before(end) {
				end = at
			}
		}
		over := !end.IsZero() && !d.Now.Before(end)
		switch {
		case f.Needed:
			if f.Sticky {
				d.of[f.Project] += f.Bytes
			}
			continue
		case !f.Sticky:
			d.plan.Verdicts[i].Code = Unneeded
			continue
		case f.Status == Nowhere, over && f.Status == HadFailed:
			d.plan.Verdicts[i].Code = Lost
			continue
		case over:
			d.plan.Verdicts[i].Code = Expired
			continue
		case f.Status == Present:
			d.of[f.Project] += f.Bytes
		}
		if !end.IsZero() && (d.plan.Again.IsZero() || end.Before(d.plan.Again)) {
			d.plan.Again = end
		}
	}
}

// admit decides which of the files that are ordered may come: in the order in which they
// were, each that fits when all other files of its project which nothing needs go.
func (d *decider) admit() {
	for _, i := range d.oldest(func(i int) bool {
		f := d.Files[i]
		return f.Status == Ordered && f.Sticky && !f.Needed && d.plan.Verdicts[i].Code == ""
	}) {
		f := d.Files[i]
		may, limit := d.room(f.Project), d.Projects[f.Project].Limit
		code := Code("")
		switch {
		case limit > 0 && d.of[f.Project]+f.Bytes-may > limit:
			code = ProjectLimit
		case d.Limit > 0 && d.total()+f.Bytes-may > d.Limit:
			code = OverallLimit
		case d.Excess+f.Bytes-may > 0:
			code = DiskLimit
		}
		if code != "" {
			d.plan.Verdicts[i] = Verdict{Code: code, Refused: true}
			continue
		}
		d.of[f.Project] += f.Bytes
		d.Excess += f.Bytes
		d.displace(f)
	}
}

// room returns the number of bytes of a project's files that could be removed.
func (d *decider) room(project int) (sum int64) {
	for i, f := range d.Files {
		if f.Project == project && d.idle(i) {
			sum += f.Bytes
		}
	}
	return sum
}

// displace removes files of the same project for one that is to be fetched, until the limit for all
// projects is kept. So files of no other project are removed for it.
func (d *decider) displace(f File) {
	own := func(o File) bool { return o.Project == f.Project }
	if d.Limit > 0 {
		d.shrink(OverallLimit, d.total()-d.Limit, own)
	}
	d.shrink(DiskLimit, d.Excess, own)
}

// idle reports whether a file is here, stays so far, and could go.
func (d *decider) idle(i int) bool {
	f := d.Files[i]
	return f.Sticky && !f.Needed && f.Status == Present && d.plan.Verdicts[i].Code == ""
}

// shrink lets files go until so many bytes are free, the least recently used first.
func (d *decider) shrink(code Code, bytes int64, among func(File) bool) {
	if bytes <= 0 {
		return
	}
	for _, i := range d.oldest(func(i int) bool { return d.idle(i) && d.Files[i].Bytes > 0 && among(d.Files[i]) }) {
		if bytes <= 0 {
			return
		}
		f := d.Files[i]
		d.plan.Verdicts[i].Code = code
		d.of[f.Project] -= f.Bytes
		d.Excess -= f.Bytes
		bytes -= f.Bytes
	}
}

// oldest lists files, the least recently used first.
func (d *decider) oldest(which func(i int) bool) (list []int) {
	for i := range d.Files {
		if which(i) {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(i, j int) int {
		x, y := d.Files[i], d.Files[j]
		return cmp.Or(x.Used.Compare(y.Used), cmp.Compare(x.Project, y.Project), cmp.Compare(x.Name, y.Name))
	})
	return list
}
