package executor

import (
	"os/exec"
	"path/filepath"

	"github.com/starling-grid/starling/executor/sandbox"
)

// Walls keep applications away from what is not theirs. The program that has
// them calls sandbox.Main first of all.
type Walls struct {
	Network bool     // applications may use the network
	Read    []string // further folders and files that they may read
	Write   []string // further ones that they may change
}

// Confine puts walls around all applications that are started from now on. It
// must be called before the first; where the system has no sandbox it does
// nothing, see sandbox.Level.
func (e *Executor) Confine(w Walls) {
	if _, ok := sandbox.Level(); ok {
		e.walls = &w
	}
}

// moreTasks is how many processes and threads all applications of this user may
// have for each process that one is allowed. The system counts them in one, and
// only stops what grows too fast to be counted here.
const moreTasks = 16

// launch starts an application, behind the walls if there are any: there it can
// read the system's programs and libraries, and change its slot and its project's
// folder.
func (e *Executor) launch(cmd *exec.Cmd, t Task) error {
	if e.walls == nil {
		return cmd.Start()
	}
	p := sandbox.System()
	p.Network = e.walls.Network
	p.MoreTasks = moreTasks * e.allowance().Processes
	p.Read = append(p.Read, e.walls.Read...)
	p.Write = append(append(p.Write, e.walls.Write...), cmd.Dir, filepath.Clean(t.ProjectDir))
	if len(t.Runner) > 0 {
		p.Read = append(p.Read, t.Runner[0])
	}
	return sandbox.Start(cmd, p)
}
