package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// exitNotStarted is the exit status of a program that could not be started. Shells use the same.
const exitNotStarted = 127

// wire is the file descriptor of the connection to the agent.
const wire = 3

// Main must be called first in a program that wraps others. It returns at once unless the process
// is to become another program. In that case it does not return.
func Main() {
	if len(os.Args) < 3 || os.Args[1] != marker {
		return
	}
	runtime.LockOSThread() // capabilities and mounts belong to the thread
	unix.CloseOnExec(wire)
	what, err := become(os.Args[2], os.Args[3:])
	number, text := 0, what+": "+err.Error()
	if e, ok := errors.AsType[unix.Errno](err); ok { // the other side adds the error's text
		number, text = int(e), strings.TrimSuffix(text, ": "+e.Error())
	}
	_, _ = unix.Write(wire, fmt.Appendf(nil, "%d %s", number, text))
	os.Exit(exitNotStarted)
}

// become returns only if something failed, and then names the operation. With an empty program it
// ends the process after success.
func become(program string, args []string) (what string, err error) {
	var p Policy
	if err := json.Unmarshal([]byte(os.Getenv(variable)), &p); err != nil {
		return "sandbox policy", err
	}
	if err := os.Unsetenv(variable); err != nil {
		return "sandbox policy", err
	}
	if err := restrict(p); err != nil {
		return "sandbox", err
	}
	listener, err := restrictSyscalls(p.Network, p.User != 0)
	if err != nil {
		return "sandbox: system calls", err
	}
	if listener >= 0 {
		if err := unix.Sendmsg(wire, []byte(listening), unix.UnixRights(listener), nil, 0); err != nil {
			return "sandbox: listener", err
		}
		_ = unix.Close(listener)
	}
	if program == nothing {
		os.Exit(0)
	}
	return program, unix.Exec(program, append([]string{program}, args...), os.Environ())
}

// nothing is the program name for a trial.
const nothing = "-"

// restrict permanently removes all of this process's permissions that the policy does not include.
func restrict(p Policy) error {
	if err := limit(p); err != nil {
		return err
	}
	switch {
	case p.Root != "":
		if err := enterRoot(p); err != nil {
			return fmt.Errorf("enter the image: %v", err) //nolint:errorlint // the program itself is not to blame, whose errors callers distinguish
		}
		p.Read, p.Write = append(p.Read, "/"), append(p.Write, p.temporary()...)
	case p.User != 0 && p.Reach != "":
		if err := openWay(p); err != nil {
			return err
		}
	}
	groups := groupsOf(p.Devices)
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	rules := []landlock.Rule{}
	for _, path := range p.Read {
		rules = append(rules, rule(path, false)...)
	}
	for _, path := range p.Write {
		rules = append(rules, rule(path, true)...)
	}
	for _, path := range p.Devices {
		if _, err := os.Stat(path); err == nil {
			rules = append(rules, landlock.RWFiles(path).WithIoctlDev())
		}
	}
	for _, path := range p.List {
		if _, err := os.Stat(path); err == nil {
			rules = append(rules, landlock.PathAccess(llsys.AccessFSReadDir, path))
		}
	}
	c := landlock.V6
	if p.Network {
		c.HandledAccessNet = 0
	}
	// All rules are in one restriction: with a second one, even for something else, the kernel
	// would refuse to move files from one folder to another.
	err := c.BestEffort().Restrict(rules...)
	if err != nil || p.User == 0 {
		return err
	}
	return becomeUser(p.User, groups)
}

// rule gives access to a path, if it exists.
func rule(path string, write bool) []landlock.Rule {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case st.IsDir() && write && strings.HasPrefix(path, "/dev/"): // such as /dev/dri
		return []landlock.Rule{landlock.RWDirs(path).WithRefer().WithIoctlDev()}
	case st.IsDir() && write:
		return []landlock.Rule{landlock.RWDirs(path).WithRefer()}
	case st.IsDir():
		return []landlock.Rule{landlock.RODirs(path)}
	case write && st.Mode()&os.ModeDevice != 0:
		return []landlock.Rule{landlock.RWFiles(path).WithIoctlDev()}
	case write:
		return []landlock.Rule{landlock.RWFiles(path)}
	}
	return []landlock.Rule{landlock.ROFiles(path)}
}

// Level returns a description, for people, of the restrictions that are enforced here, and whether
// access to files is among them.
func Level() (words string, enforced bool) {
	v, err := llsys.LandlockGetABIVersion()
	if err != nil || v <= 0 {
		return "none: this kernel has no Landlock (it needs Linux 5.13 or later, with Landlock enabled)", false
	}
	can := []string{"files"}
	if v >= 4 {
		can = append(can, "TCP connections")
	}
	if v >= 6 {
		can = append(can, "signals to other programs")
	}
	words = fmt.Sprintf("Landlock, version %d: %s", v, strings.Join(can, ", "))
	if filtered {
		words += "; seccomp: system calls, sockets, terminal input"
	}
	return words, true
}
