package executor

import (
	"os/exec"
	"slices"
)

// A Runner determines how the main program of a task is run.
type Runner interface {
	// Command returns the command that runs the program. The program's path is relative to the
	// slot.
	Command(program string, args []string) *exec.Cmd
	// Reads returns the files that are needed for this in addition to the files of the slot and the
	// project.
	Reads() []string
	// Computes reports whether the processes that it starts do the work, so that stopping them
	// suspends it.
	Computes() bool
	// Free reports whether the program has the rights of the agent's user: it does not run in the
	// sandbox, and processes that it leaves running when it ends do not belong to it.
	Free() bool
}

// Native runs programs of this computer.
type Native struct{}

// Command returns the program itself.
func (Native) Command(program string, args []string) *exec.Cmd { return exec.Command(program, args...) }

// Reads returns nil.
func (Native) Reads() []string { return nil }

// Computes returns true.
func (Native) Computes() bool { return true }

// Free returns false.
func (Native) Free() bool { return false }

// Interpreted runs programs by means of another program, such as WebAssembly modules, which are not
// programs for any computer.
type Interpreted struct {
	Program string   // absolute path
	Args    []string // before the path of the main program
}

// Command returns the other program, with the main program's path among its arguments.
func (i Interpreted) Command(program string, args []string) *exec.Cmd {
	return exec.Command(i.Program, slices.Concat(i.Args, []string{program}, args)...)
}

// Reads returns the other program.
func (i Interpreted) Reads() []string { return []string{i.Program} }

// Computes returns true.
func (Interpreted) Computes() bool { return true }

// Free returns false.
func (Interpreted) Free() bool { return false }

// Outside runs a program of this computer that has the work done in a virtual machine or a
// container, so its own processes do not compute.
type Outside struct {
	Native
	// Allowed means that the volunteer lets it start such machines and containers. No sandbox can
	// allow that, since they need mounts, namespaces, setuid programs and other programs' sockets.
	Allowed bool
}

// Computes returns false.
func (Outside) Computes() bool { return false }

// Free reports whether the volunteer allows it.
func (o Outside) Free() bool { return o.Allowed }

// A starter starts a command. The starters below are layers around each other: each does its part
// and calls the next.
type starter interface {
	start(cmd *exec.Cmd, t Task) error
}

// plain starts a command without any additions.
type plain struct{}

func (plain) start(cmd *exec.Cmd, _ Task) error { return cmd.Start() }

// grouped starts a command in a control group.
type grouped struct {
	group *group
	next  starter
}

func (g grouped) start(cmd *exec.Cmd, t Task) error {
	g.group.enter(cmd.SysProcAttr)
	if err := g.next.start(cmd, t); err != nil {
		return err
	}
	return g.group.entered(cmd)
}

// awaited starts a command and records that a goroutine waits for it, see reap.
type awaited struct{ next starter }

func (a awaited) start(cmd *exec.Cmd, t Task) error {
	return begin(cmd, func() error { return a.next.start(cmd, t) })
}

// starter returns all layers, for a run in a control group.
func (e *Executor) starter(t Task, g *group, root *rootFS) starter {
	switch {
	case e.free(t):
		return awaited{plain{}}
	case e.sandboxed != nil:
		return awaited{grouped{g, sandboxed{e, root}}}
	}
	return awaited{grouped{g, plain{}}}
}

// free reports whether a task's program has the rights of the agent's user. Root's rights are never
// given away, unless there is no sandbox at all.
func (e *Executor) free(t Task) bool {
	if !t.runner().Free() {
		return false
	}
	user, err := e.taskUser(t.Slot)
	return err == nil && user == 0
}
