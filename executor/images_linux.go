package executor

import (
	"os"
	"strings"
)

// noRoot returns the remedy if a program cannot have its own root.
func noRoot() string {
	setting := func(name string) string {
		text, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	switch {
	case os.Geteuid() == 0:
		return ". In a container, root may not mount: run the agent as an ordinary user, or give the container the right to make user namespaces"
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return ". Ubuntu lets only known programs make user namespaces. " + youCan + "allow it for all programs: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or allow it for starling with a profile of AppArmor that has the rule userns"
	case setting("kernel/unprivileged_userns_clone") == "0":
		return ". This system does not let ordinary users make user namespaces. " + youCan + "allow it: sysctl kernel.unprivileged_userns_clone=1"
	case setting("user/max_user_namespaces") == "0":
		return ". This system does not allow user namespaces. " + youCan + "allow them: sysctl user.max_user_namespaces=10000"
	}
	return ". Images need Linux 5.13 or later, and a user who may make user namespaces: in a container, allow this in its profile"
}

const youCan = "You can: "
