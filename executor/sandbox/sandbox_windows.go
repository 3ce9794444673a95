package sandbox

import (
	"fmt"
	"os/exec"
	"sync"
	"syscall"
)

// Start starts a command as cmd.Start does, at low integrity: it can change what a policy
// lets it or another program write, which is labeled for that and stays so, and nothing
// else. Of the rest of a policy nothing has an effect here.
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

// Level tells what is enforced here, in words for people, and whether that is
// anything.
func Level() (words string, enforced bool) {
	if !lowers() {
		return jobs + "files and the network are not protected, because this system does not lower the integrity of processes: run the agent as its own user", false
	}
	return jobs + "low integrity, at which tasks can change files in slots only; they can read what the agent's user can, and use the network", true
}

// lowers reports whether the system does what it is asked. Wine agrees, and does nothing.
var lowers = sync.OnceValue(func() bool {
	token, err := lowered()
	if err != nil {
		return false
	}
	defer token.Close()
	level, err := integrity(token)
	return err == nil && level == low
})
