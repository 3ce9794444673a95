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

// Trickles lists the messages that a project has not taken yet, in the order in
// which they were written.
func (l *Life) Trickles(project string) (found []protocol.Trickle) {
	dir, err := l.OpenProject(project)
	if err != nil {
		return nil
	}
	defer dir.Close()
	_ = foreigndir.Names(dir, ".", func(name string) bool {
		if result, at, ok := appipc.ParseTrickleName(name); ok {
			// The application that wrote it may still have it open.
			if text, err := foreigndir.Read(dir, name, executor.MaxTrickle); err == nil {
				found = append(found, protocol.Trickle{ResultName: result, Time: at, Text: string(text)})
			}
		}
		return true
	}) // a folder that cannot be read has no messages
	slices.SortStableFunc(found, func(x, y protocol.Trickle) int { return x.Time.Compare(y.Time) })
	return found
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
		if len(l.Trickles(u)) > 0 {
			l.trickleUps[u] = true
		}
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
	if left := l.Trickles(project); len(left) > 0 { // written meanwhile
		l.trickleUps[project] = true
	}
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
