package life

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/internal/foreigndir"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
	"github.com/starling-grid/starling/state"
)

// Messages from applications to their project are files in the project's folder until a scheduler
// acknowledges them. Messages to applications are put into their slot before the reply with them
// counts.

// maxTrickles is the number of bytes of messages that a request contains, and at least one message. The
// others follow once these are taken.
const maxTrickles = 4 * executor.MaxTrickle

// Trickles returns the oldest messages that a project has not taken yet, for one request, in the
// order in which they were written.
func (l *Life) Trickles(project string) (found []protocol.Trickle) {
	dir, err := l.OpenProject(project)
	if err != nil {
		return nil
	}
	defer dir.Close()
	bytes := 0
	for _, t := range waiting(dir) {
		// The application that wrote it may still have it open.
		text, err := foreigndir.Read(dir, appipc.TrickleName(t.ResultName, t.Time), executor.MaxTrickle)
		if err != nil {
			continue
		}
		if bytes += len(text); bytes > maxTrickles && len(found) > 0 {
			break
		}
		t.Text = string(text)
		found = append(found, t)
	}
	return found
}

// waiting returns all messages in a project's folder without their texts, the oldest first. A folder that
// cannot be read has none.
func waiting(dir *os.Root) (found []protocol.Trickle) {
	_ = foreigndir.Names(dir, ".", func(name string) bool {
		result, at, ok := appipc.ParseTrickleName(name)
		if !ok || name != appipc.TrickleName(result, at) {
			return true
		}
		if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() && info.Size() <= executor.MaxTrickle {
			found = append(found, protocol.Trickle{ResultName: result, Time: at})
		}
		return true
	})
	slices.SortStableFunc(found, func(x, y protocol.Trickle) int { return x.Time.Compare(y.Time) })
	return found
}

// findTricklesOf remembers that a project has messages waiting for it.
func (l *Life) findTricklesOf(project string) {
	dir, err := l.OpenProject(project)
	if err != nil {
		return
	}
	defer dir.Close()
	if len(waiting(dir)) > 0 {
		l.trickleUps[project] = true
	}
}

// trickledUp makes the agent contact the project soon.
func (l *Life) trickledUp(e executor.TrickledUp) {
	if run := l.running[e.Result]; run != nil {
		if r, ok := l.DB.Results.Get(run.key); ok {
			l.Log.Info("application sent a trickle-up message", logflag.Key, logflag.Trickle, "project", r.Project, "result", r.Name)
			l.trickleUps[r.Project] = true
		}
	}
}

// findTrickles remembers which projects have messages waiting for them.
func (l *Life) findTrickles() {
	for u := range l.DB.Projects.All() {
		l.findTricklesOf(u)
	}
}

// TricklesTaken forgets messages that a scheduler has acknowledged.
func (l *Life) TricklesTaken(project string, sent []protocol.Trickle) {
	delete(l.trickleUps, project)
	for _, t := range sent {
		name := appipc.TrickleName(t.ResultName, t.Time)
		if err := os.Remove(filepath.Join(l.ProjectDir(project), name)); err != nil {
			l.Log.Warn("cannot remove a trickle-up message that was sent", "project", project, "file", name, "err", err)
		}
	}
	l.findTricklesOf(project) // written meanwhile, or too many for one request
}

// TricklesDown delivers a reply's messages to applications. A message for a result without a slot
// is dropped, as by BOINC's client.
func (l *Life) TricklesDown(project string, all []protocol.Trickle) {
	for _, t := range all {
		r, ok := l.DB.Results.Get(state.Key(project, t.ResultName))
		if !ok || r.Slot == state.NoSlot {
			l.Log.Warn("trickle-down message for a result that is not running", "project", project, "result", t.ResultName)
			continue
		}
		if err := l.Exec.TrickleDown(taskID(r), r.Slot, t.Time, t.Text); err != nil {
			l.Log.Warn("cannot deliver a trickle-down message", "err", err)
		}
	}
}
