// Package sandbox keeps a program that came from a project away from what is not
// its own: the volunteer's files, other projects' files, the agent's keys. The
// program's own process restricts itself for good and then becomes the program;
// the agent stays as it is.
//
// What each system enforces stands in docs/security.md.
package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// A Policy is what a program may do.
type Policy struct {
	// Read are folders and files that it may read and execute; what is not there
	// is passed over.
	Read []string `json:"read,omitempty"`
	// Write are folders and files that it may change as well.
	Write []string `json:"write,omitempty"`
	// Network lets it open TCP connections and ports.
	Network bool `json:"network,omitempty"`
	// MoreTasks bounds how many processes and threads its user may have while it
	// starts another: these over those that there are when it begins. Root is not
	// bound. 0: no bound.
	MoreTasks int `json:"more_tasks,omitempty"`
	// FileBytes bounds each file that it writes; 0: no bound.
	FileBytes int64 `json:"file_bytes,omitempty"`
}

// variable carries the policy to the process that restricts itself.
const variable = "STARLING_SANDBOX"

// marker, as its first argument, makes this program restrict itself and become
// another.
const marker = "--become-sandboxed"

// System are the folders and files that programs need of the system to start and
// to compute: libraries, time zones, certificates, devices that hold no data.
func System() Policy {
	return Policy{
		Read: []string{
			"/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin", "/opt", "/nix", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d",
			"/etc/alternatives", "/etc/localtime", "/etc/timezone", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/resolv.conf", "/etc/hosts",
			"/etc/nsswitch.conf", "/etc/passwd", "/etc/group", "/etc/services", "/etc/protocols", "/etc/locale.alias",
			"/proc", "/sys/devices/system/cpu", "/sys/fs/cgroup", "/dev/urandom", "/dev/random",
		},
		Write: []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/tty"},
	}
}

// Start starts a command as cmd.Start does, but under a policy: the process is
// this program itself, which calls Main and so becomes the command. The error is
// that of the command's own start, such as a format that cannot be executed.
func Start(cmd *exec.Cmd, p Policy) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	policy, err := json.Marshal(p)
	if err != nil {
		return err
	}
	// What went wrong comes through a pipe that a successful start closes.
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Args = append([]string{self, marker, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Err = self, nil
	cmd.Env = append(cmd.Env, variable+"="+string(policy))
	cmd.ExtraFiles = []*os.File{w}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return err
	}
	told, err := io.ReadAll(io.LimitReader(r, 4096))
	if err == nil && len(told) == 0 {
		return nil
	}
	_ = cmd.Wait()
	number, words, _ := strings.Cut(string(told), " ")
	if n, err := strconv.Atoi(number); err == nil && n > 0 {
		return fmt.Errorf("%s: %w", words, syscall.Errno(n))
	}
	return errors.Join(err, errors.New(words))
}
