package executor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// agentGroup is the control group of the agent itself. It needs one because a group that has groups
// below it cannot contain processes.
const agentGroup = "agent"

// groups represents the control groups of all applications, below the group that was delegated to
// the agent. In the zero value, nothing was delegated.
type groups struct {
	dir     string
	bounded string // the controllers that can be used: "cpu memory pids" or some of them
}

// A group is the control group of one run. The methods of a nil group do nothing and return zero
// values.
type group struct {
	dir  string
	open *os.File
}

// UseControlGroups puts each application into a separate control group, if the system's service
// manager has delegated the agent's group to the agent (Delegate=yes). This process moves into a
// group below it as well. UseControlGroups returns the resources that the kernel can limit there,
// or "" if nothing is delegated. It must be called before the first Start.
func (e *Executor) UseControlGroups() (bounded string, err error) {
	dir, err := delegated()
	if err != nil || dir == "" {
		return "", err
	}
	g := groups{dir: dir}
	old, _ := filepath.Glob(filepath.Join(dir, "slot-*"))
	for _, dir := range old { // left by an earlier agent
		if err := (&group{dir: dir}).remove(); err != nil {
			return "", err
		}
	}
	if err := os.Mkdir(filepath.Join(dir, agentGroup), 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // as all are
		return "", err
	}
	if err := write(dir, agentGroup+"/cgroup.procs", "0"); err != nil {
		return "", err
	}
	var can []string
	for _, controller := range []string{"cpu", "memory", "pids"} {
		if write(dir, "cgroup.subtree_control", "+"+controller) == nil {
			can = append(can, controller)
		}
	}
	g.bounded = strings.Join(can, " ")
	e.groups = g
	return strings.TrimSpace("processes " + g.bounded), nil
}

// delegated returns the folder of the agent's control group, or "" if it was not delegated to the
// agent. Other groups may look writable, but they belong to the service manager.
func delegated() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", nil //nolint:nilerr // a kernel without
	}
	for line := range strings.Lines(string(text)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "0::/")
		if !ok {
			continue
		}
		if path.Base(name) == agentGroup { // this process has moved already
			name = path.Dir(name)
		}
		for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			var st unix.Statfs_t
			if unix.Statfs(root, &st) != nil || st.Type != unix.CGROUP2_SUPER_MAGIC {
				continue
			}
			dir := filepath.Join(root, name)
			mark := make([]byte, 1)
			for _, attr := range []string{"user.delegate", "trusted.delegate"} { // set by systemd
				if n, err := unix.Getxattr(dir, attr, mark); err == nil && n == 1 && mark[0] == '1' {
					if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
						return "", errors.New("this kernel cannot kill a control group as a whole: Linux 5.14 or later can")
					}
					return dir, nil
				}
			}
		}
	}
	return "", nil
}

func write(dir, name, text string) error {
	return os.WriteFile(filepath.Join(dir, name), []byte(text), 0)
}

// make returns the group of a slot, or nil if there are no control groups.
func (g groups) make(slot int) (*group, error) {
	if g.dir == "" {
		return nil, nil
	}
	c := &group{dir: filepath.Join(g.dir, "slot-"+strconv.Itoa(slot))}
	if err := c.remove(); err != nil {
		return nil, err
	}
	if err := os.Mkdir(c.dir, 0o755); err != nil { //nolint:gosec // as all are
		return nil, err
	}
	var err error
	c.open, err = os.Open(c.dir)
	return c, err
}

// enter makes a command start in the group.
func (c *group) enter(attr *syscall.SysProcAttr) {
	if c != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(c.open.Fd())
	}
}

// bound limits the group to so many bytes of memory and so many processes and threads (0: no
// limit), and with idle set gives it the lowest CPU weight. Resources that cannot be limited here
// stay unlimited.
func (c *group) bound(memory int64, tasks int, idle bool) {
	if c == nil {
		return
	}
	most := func(n int64) string {
		if n <= 0 {
			return "max"
		}
		return strconv.FormatInt(n, 10)
	}
	_ = write(c.dir, "memory.max", most(memory))
	_ = write(c.dir, "memory.oom.group", "1") // a task with some of its processes killed cannot continue
	_ = write(c.dir, "pids.max", most(int64(tasks)))
	if idle {
		_ = write(c.dir, "cpu.weight", "1")
	}
}

// quotaPeriod is the period, in microseconds, over which the kernel counts CPU time. leastQuota is
// the smallest limit that the kernel accepts: one millisecond.
const (
	quotaPeriod = 100_000
	leastQuota  = 1000
)

// limitCPU limits the group to so many CPUs, on average over a tenth of a second. 0 lifts the
// limit. It reports whether the kernel enforces the limit.
func (c *group) limitCPU(cpus float64) bool {
	quota := int(cpus * quotaPeriod)
	switch {
	case c == nil:
		return false
	case cpus == 0:
		return write(c.dir, "cpu.max", fmt.Sprintf("max %d", quotaPeriod)) == nil
	case quota < leastQuota:
		return false
	}
	return write(c.dir, "cpu.max", fmt.Sprintf("%d %d", quota, quotaPeriod)) == nil
}

// entered does nothing: the process was started in the group.
func (*group) entered(*exec.Cmd) error { return nil }

// members is not used here: processTree finds the processes.
func (*group) members() (pids []int, ok bool) { return nil, false }

// freeze stops all processes of the group, or resumes them, and reports whether it did. It cannot
// spare one of them: with spared set it does nothing and returns false.
func (c *group) freeze(v bool, spared int) bool {
	if c == nil || spared != 0 {
		return false
	}
	text := "0"
	if v {
		text = "1"
	}
	return write(c.dir, "cgroup.freeze", text) == nil
}

// kill ends all processes of the group and returns how many there were.
func (c *group) kill() int {
	if c == nil {
		return 0
	}
	pids, _ := os.ReadFile(filepath.Join(c.dir, "cgroup.procs"))
	_ = write(c.dir, "cgroup.kill", "1")
	return bytes.Count(pids, []byte("\n"))
}

// cpu returns the CPU time of the group's processes, including those that have ended.
func (c *group) cpu() time.Duration {
	return time.Duration(c.number("cpu.stat", "usage_usec")) * time.Microsecond
}

// outOfMemory reports whether the kernel has killed processes because they exceeded the memory
// limit.
func (c *group) outOfMemory() bool { return c.number("memory.events", "oom_kill") > 0 }

// number returns a value from a file of names and values, or 0 if it is not there.
func (c *group) number(file, name string) int64 {
	if c == nil {
		return 0
	}
	text, _ := os.ReadFile(filepath.Join(c.dir, file))
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return n
		}
	}
	return 0
}

// remove ends the processes that are left in the group and removes the group.
func (c *group) remove() error {
	if c == nil {
		return nil
	}
	if c.open != nil {
		_ = c.open.Close()
	}
	var err error
	for range 250 {
		c.kill()
		if err = unix.Rmdir(c.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return fmt.Errorf("remove control group %s: %w", c.dir, err)
}
