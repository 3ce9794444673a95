package executor

import (
	"os"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// noRoot returns err with the reason and the remedy if a program cannot have its own root.
func noRoot(err error) error {
	no := func(why, cure string) error {
		return &ImagesError{words.And(words.T("{error}.", "error", words.Plain(err.Error())), words.T(why)), words.T(cure), err}
	}
	setting := func(name string) string {
		text, err := os.ReadFile("/proc/sys/" + name)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(text))
	}
	switch {
	case os.Geteuid() == 0:
		return no("In a container, root may not mount.", "run the agent as an ordinary user, or let the container make user namespaces")
	case setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return no("Ubuntu lets only programs with an AppArmor profile make user namespaces.",
			"add a profile for starling with the rule userns, or allow it for all programs with sysctl kernel.apparmor_restrict_unprivileged_userns=0")
	case setting("kernel/unprivileged_userns_clone") == "0":
		return no("Ordinary users may not make user namespaces.", "allow it with sysctl kernel.unprivileged_userns_clone=1")
	case setting("user/max_user_namespaces") == "0":
		return no("User namespaces are turned off.", "turn them on with sysctl user.max_user_namespaces=10000")
	}
	return no("Images need Linux 5.13 or later and user namespaces.", "install a newer kernel, or let the container in which the agent runs make user namespaces")
}
