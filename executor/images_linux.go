package executor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/starling-grid/starling/internal/words"
)

// noRoot returns err with the reason and the remedy if a program cannot have its own root.
func noRoot(err error) error {
	no := func(why, cure string, values ...any) error {
		return &ImagesError{words.And(words.T("{error}.", "error", words.Plain(err.Error())), words.T(why)), words.T(cure, values...), err}
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
		const why = "Ubuntu lets only programs with an AppArmor profile make user namespaces."
		if command := installProfile(executable()); command != "" {
			return no(why, "run {command} to install the profile of this program", "command", command)
		}
		return no(why, "add a profile for starling with the rule userns, or allow it for all programs with sysctl kernel.apparmor_restrict_unprivileged_userns=0")
	case setting("kernel/unprivileged_userns_clone") == "0":
		return no("Ordinary users may not make user namespaces.", "allow it with sysctl kernel.unprivileged_userns_clone=1")
	case setting("user/max_user_namespaces") == "0":
		return no("User namespaces are turned off.", "turn them on with sysctl user.max_user_namespaces=10000")
	}
	return no("Images need Linux 5.13 or later and user namespaces.", "install a newer kernel, or let the container in which the agent runs make user namespaces")
}

// executable returns the path of this program, or "".
func executable() string {
	path, _ := os.Executable()
	return path
}

// The AppArmor profile in the package, its program, and the path where AppArmor looks for it.
const (
	packagedProfile = "/usr/share/starling/apparmor"
	packagedProgram = "/usr/bin/starling"
	usedProfile     = "/etc/apparmor.d/starling"
)

// installProfile returns the command that installs the AppArmor profile from a program's package or
// archive, or "" if the profile is missing.
func installProfile(program string) string {
	const load = " && apparmor_parser -r " + usedProfile + "'"
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	beside := filepath.Join(filepath.Dir(program), "share/starling/apparmor")
	switch {
	case program == packagedProgram && exists(packagedProfile):
		return "sudo sh -c 'ln -sf " + packagedProfile + " " + usedProfile + load
	case exists(beside) && plainPath.MatchString(program):
		return "sudo sh -c 'sed s:" + packagedProgram + ":" + program + ": " + beside + " >" + usedProfile + load
	}
	return ""
}

// plainPath matches paths without characters that mean something to a shell, sed or AppArmor.
var plainPath = regexp.MustCompile(`^[\w./+-]+$`)
