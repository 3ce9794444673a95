package executor

import (
	"os/exec"
	"slices"
)

// A Runner says how the main program of a task is run.
type Runner interface {
	// Command returns what runs the program, whose path is given as seen from the slot.
	Command(program string, args []string) *exec.Cmd
	// Reads are the files that doing so takes beside those of the slot and the project.
	Reads() []string
	// Computes reports whether the processes that it starts do the work: then stopping
	// them suspends it.
	Computes() bool
	// Free reports whether the program has the rights of the agent's user: it is not in the
	// sandbox, and what it leaves running when it ends is not its own.
	Free() bool
}

// Native runs programs of this computer.
type Native struct{}

// Command returns the program itself.
func (Native) Command(program string, args []string) *exec.Cmd { return exec.Command(program, args...) }

// Reads returns nothing.
func (Native) Reads() []string { return nil }

// Computes reports true.
func (Native) Computes() bool { return true }

// Free reports false.
func (Native) Free() bool { return false }

// Interpreted runs programs of no computer, WebAssembly modules say, by another program.
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

// Computes reports true.
func (Interpreted) Computes() bool { return true }

// Free reports false.
func (Interpreted) Free() bool { return false }

// Outside runs a program of this computer that has the work done elsewhere, in a virtual
// machine or a container: its processes are not the ones that compute.
type Outside struct {
	Native
	// Allowed says that the volunteer lets it start such machines and containers, which no
	// sandbox can allow: they take mounts, namespaces and setuid programs, and other
	// programs' sockets.
	Allowed bool
}

// Computes reports false.
func (Outside) Computes() bool { return false }

// Free reports whether the volunteer allows it.
func (o Outside) Free() bool { return o.Allowed }

// A starter starts a command. Those below are layers around each other: each does its
// part and leaves the rest to the next.
type starter interface {
	start(cmd *exec.Cmd, t Task) error
}

// plain starts it, and nothing else.
type plain struct{}

func (plain) start(cmd *exec.Cmd, _ Task) error { return cmd.Start() }

// grouped starts it in a control group.
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

// awaited starts it as one that somebody waits for, see reap.
type awaited struct{ next starter }

func (a awaited) start(cmd *exec.Cmd, t Task) error {
	return begin(cmd, func() error { return a.next.start(cmd, t) })
}

// starter returns all layers, for a run in a control group.
func (e *Executor) starter(t Task, g *group) starter {
	switch {
	case e.free(t):
		return awaited{plain{}}
	case e.sandboxed != nil:
		return awaited{grouped{g, sandboxed{e}}}
	}
	return awaited{grouped{g, plain{}}}
}

// free reports whether a task's program has the rights of the agent's user. Root's are never
// given away, unless there is no sandbox at all.
func (e *Executor) free(t Task) bool {
	if !t.runner().Free() {
		return false
	}
	user, err := e.taskUser(t.Slot)
	return err == nil && user == 0
}
