package executor

import (
	"fmt"
	"hash/fnv"
	"os/exec"
	"path/filepath"

	"github.com/starling-grid/starling/executor/sandbox"
)

// A Sandbox restricts the files, devices and network that applications can use. A program that uses
// one must call sandbox.Main before anything else.
type Sandbox struct {
	Network bool     // applications may use the network
	Read    []string // further folders and files that they may read
	Write   []string // further ones that they may change
}

// Confine sandboxes all applications that are started from now on. If the agent runs as root, each
// of them also runs as a separate user without privileges. Confine must be called before the first
// Start. Its error explains why this is not possible here and how to fix it.
func (e *Executor) Confine(w Sandbox) error {
	e.sandboxed = &w
	user, err := sandbox.TaskUser(0)
	if err == nil && user != 0 {
		err = e.openWay()
		if err == nil {
			err = sandbox.Try(sandbox.Policy{User: user, Reach: e.dir})
		}
	}
	if err != nil {
		return fmt.Errorf("the agent runs as root, and tasks cannot run as unprivileged users here: %w\n"+
			"You can: run it as an ordinary user, or install the service, which has its own user: starling service install", err)
	}
	return nil
}

// openWay lets the users of tasks pass through the agent's folders to their own slots and projects.
func (e *Executor) openWay() error {
	for _, dir := range []string{".", "slots", "projects"} {
		if err := e.root.MkdirAll(dir, 0o711); err != nil {
			return err
		}
		info, err := e.root.Stat(dir)
		if err == nil && info.Mode()&0o011 != 0o011 {
			err = e.root.Chmod(dir, info.Mode().Perm()|0o011)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// taskUser returns the ID of the user that runs the task in a slot. 0 is the agent's user.
func (e *Executor) taskUser(slot int) (int, error) {
	if e.sandboxed == nil {
		return 0, nil
	}
	return sandbox.TaskUser(slot)
}

// moreTasks is the number of processes and threads that all applications of this user may have for
// each process that one application is allowed. The system only has a total for the user, so this
// limit stops only programs that grow too fast for the agent to count their processes.
const moreTasks = 16

// lowest is the niceness of programs that get only CPUs that no other program wants.
const lowest = 19

// roomForMessage is the number of bytes by which a file may exceed the disk bound, so that the
// agent can end its writer with a message before the system does.
const roomForMessage = 1 << 20

// sandboxed starts an application in its sandbox, where it can read the system's programs and
// libraries, or its image, and its project's folder, and change its slot.
type sandboxed struct {
	e    *Executor
	root *rootFS // nil: the computer's
}

func (s sandboxed) start(cmd *exec.Cmd, t Task) error {
	e := s.e
	user, err := e.taskUser(t.Slot)
	if err != nil {
		return err
	}
	p := sandbox.System()
	p.User, p.Reach, p.Own, p.Settled, p.Mark = user, e.dir, cmd.Dir, filepath.Clean(t.ProjectDir), e.mark(t.Slot)
	p.Network = e.sandboxed.Network
	p.Nice, p.CPUs = niceOf(t.Init), t.CPUs
	p.Idle = p.Nice == lowest
	p.MoreTasks = moreTasks * e.allowance().Processes
	if t.Init.RscDiskBound > 0 {
		p.FileBytes = t.Init.RscDiskBound + roomForMessage
	}
	p.Read = append(append(p.Read, e.sandboxed.Read...), filepath.Clean(t.ProjectDir))
	p.Write = append(append(p.Write, e.sandboxed.Write...), cmd.Dir)
	p.Read = append(append(p.Read, t.runner().Reads()...), t.Reads...)
	p.Devices, p.List = t.Devices, t.Lists
	if s.root != nil { // it can read all that is mounted there, and the volunteer's folders are not
		p.Root, p.Temporary, p.Shown = s.root.path, filepath.Join(cmd.Dir, temporaryDir), s.root.shared.Shown
		p.Read, p.Write, p.List = nil, append(sandbox.System().Write, cmd.Dir), nil
	}
	return sandbox.Start(cmd, p)
}

// slotBits is the number of bits of a mark that identify the slot. The other bits identify the data
// directory.
const slotBits = 16

// mark returns the number by which the processes of a slot are recognized. The path of the data
// directory is not enough to identify it: an agent in a container may have a data directory at the
// same path, and this agent may see its processes.
func (e *Executor) mark(slot int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(e.dir + "\x00" + inode(e.place)))
	return h.Sum64()>>(slotBits+1)<<slotBits | uint64(slot+1)&(1<<slotBits-1) //nolint:gosec // slots are few
}

// ours reports whether a mark belongs to a slot of this data directory.
func (e *Executor) ours(mark uint64) bool {
	return mark != 0 && mark>>slotBits == e.mark(0)>>slotBits
}
