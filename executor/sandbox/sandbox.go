// Package sandbox keeps a program that came from a project away from what is not
// its own: the volunteer's files, other projects' files, the agent's keys. The
// program's own process restricts itself for good and then becomes the program;
// the agent stays as it is.
//
// What each system enforces stands in docs/security.md.
package sandbox

import "encoding/json"

// A Policy is what a program may do.
type Policy struct {
	// Read are folders and files that it may read and execute; what is not there
	// is passed over.
	Read []string `json:"read,omitempty"`
	// Write are folders and files that it may change as well.
	Write []string `json:"write,omitempty"`
	// Network lets it open TCP connections and ports.
	Network bool `json:"network,omitempty"`
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

// Wrap returns how to start a program under a policy: this program itself, which
// calls Main, with the arguments and the environment to add.
func Wrap(self string, p Policy, program string, args []string) (argv []string, env string, err error) {
	b, err := json.Marshal(p)
	if err != nil {
		return nil, "", err
	}
	return append([]string{self, marker, program}, args...), variable + "=" + string(b), nil
}
