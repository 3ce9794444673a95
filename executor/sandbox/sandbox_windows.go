package sandbox

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
)

// Start starts a command as cmd.Start does, but at low integrity. The command can only change files
// that a policy, its own or another program's, includes in Write. They are labeled for this and
// keep the label. The rest of the policy has no effect on Windows.
func Start(cmd *exec.Cmd, p Policy) error {
	token, err := lowered()
	if err != nil {
		return fmt.Errorf("make a token of low integrity: %w", err)
	}
	defer token.Close()
	for _, path := range p.Write {
		if err := open(path); err != nil {
			return fmt.Errorf("let tasks write to %s: %w; if that cannot be allowed, set sandbox = false in starling.toml", path, err)
		}
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Token = syscall.Token(token)
	return cmd.Start()
}

const jobs = "job objects, which limit memory and processes; "

// Level returns a description, for people, of the restrictions that are enforced here, and whether
// there are any.
func Level() (words string, enforced bool) {
	if !lowers() {
		return jobs + "files and the network are not protected, because this system does not lower the integrity of processes: run the agent as its own user", false
	}
	return jobs + "low integrity, at which tasks can change files in slots only; they can read what the agent's user can, and use the network", true
}

// lowers reports whether the system really lowers the integrity. Wine accepts the request but
// ignores it.
var lowers = sync.OnceValue(func() bool {
	token, err := lowered()
	if err != nil {
		return false
	}
	defer token.Close()
	level, err := integrity(token)
	return err == nil && level == low
})
