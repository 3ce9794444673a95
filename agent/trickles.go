package agent

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

// Messages of applications to their project lie as files in the project's folder
// until a scheduler says that it has them; messages to applications are put into
// their slot before the reply that brought them counts.

// trickles lists the messages that a project has not taken yet, in the order in
// which they were written.
func (a *Agent) trickles(project string) (found []protocol.Trickle) {
	dir, err := a.openProject(project)
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
	}) // a folder that cannot be read has none
	slices.SortStableFunc(found, func(x, y protocol.Trickle) int { return x.Time.Compare(y.Time) })
	return found
}

// trickledUp has the project contacted soon.
func (a *Agent) trickledUp(e executor.TrickledUp) {
	if run := a.running[e.Result]; run != nil {
		if r, ok := a.db.Results.Get(run.key); ok {
			a.log.Info("application has a message for its project", logflag.Key, logflag.Trickle, "project", r.Project, "result", r.Name)
			a.letters[r.Project] = true
		}
	}
}

// findTrickles remembers which projects have messages waiting for them.
func (a *Agent) findTrickles() {
	for u := range a.db.Projects.All() {
		if len(a.trickles(u)) > 0 {
			a.letters[u] = true
		}
	}
}

// tricklesTaken forgets messages that a scheduler has acknowledged.
func (a *Agent) tricklesTaken(project string, sent []protocol.Trickle) {
	delete(a.letters, project)
	for _, t := range sent {
		name := appipc.TrickleName(t.ResultName, t.Time)
		if err := os.Remove(filepath.Join(a.projectDir(project), name)); err != nil {
			a.log.Warn("cannot remove a message that was sent", "project", project, "file", name, "error", err)
		}
	}
	if left := a.trickles(project); len(left) > 0 { // written meanwhile
		a.letters[project] = true
	}
}

// tricklesDown hands a reply's messages to applications. One for a result that
// has no slot is dropped, as by BOINC's client.
func (a *Agent) tricklesDown(project string, all []protocol.Trickle) {
	for _, t := range all {
		r, ok := a.db.Results.Get(state.Key(project, t.ResultName))
		if !ok || r.Slot == state.NoSlot {
			a.log.Warn("message for a result that does not run", "project", project, "result", t.ResultName)
			continue
		}
		if err := a.exec.TrickleDown(taskID(r), r.Slot, t.Time, t.Text); err != nil {
			a.log.Warn("message from the project is lost", "error", err)
		}
	}
}
