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
		return ". In a container, root may not mount. You can: run the agent as an ordinary user, or let the container make user namespaces"
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return ". Ubuntu lets only programs with an AppArmor profile make user namespaces. You can: add a profile for starling with the rule userns, or allow it for all programs with sysctl kernel.apparmor_restrict_unprivileged_userns=0"
	case setting("kernel/unprivileged_userns_clone") == "0":
		return ". Ordinary users may not make user namespaces. You can: allow it with sysctl kernel.unprivileged_userns_clone=1"
	case setting("user/max_user_namespaces") == "0":
		return ". User namespaces are turned off. You can: turn them on with sysctl user.max_user_namespaces=10000"
	}
	return ". Images need Linux 5.13 or later and user namespaces. You can: install a newer kernel, or let the container in which the agent runs make user namespaces"
}
