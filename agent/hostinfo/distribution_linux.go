package hostinfo

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// asking is the maximum time that a program may take to report facts about the system.
const asking = 5 * time.Second

// A distribution is a Linux system's name for itself.
type distribution struct {
	name    string // lsb_release's "Distributor ID", or NAME of os-release
	version string // for people: "Debian GNU/Linux 12 (bookworm)"
}

// osNames returns the system's name and version as BOINC's client sends them: "Linux Debian" and
// "Debian GNU/Linux 12 (bookworm) [6.1.0-31-amd64|libc 2.36]". Servers use the version of the C
// library in it to choose applications.
//
// Source: BOINC client/hostinfo_unix.cpp, HOST_INFO::get_os_info.
func osNames() (name, version string) {
	var u syscall.Utsname
	kernel := ""
	if syscall.Uname(&u) == nil {
		kernel = utsname(u.Release[:])
	}
	return describeOS(kernel, thisDistribution(), libcVersion())
}

// describeOS joins the parts, each of which may be missing.
func describeOS(kernel string, d distribution, libc string) (name, version string) {
	name = strings.TrimSpace("Linux " + d.name)
	version, details := d.version, kernel
	if d == (distribution{}) {
		version, details = kernel, ""
	}
	if libc != "" {
		details = strings.TrimPrefix(details+"|libc "+libc, "|")
	}
	if details != "" {
		version += " [" + details + "]"
	}
	return name, strings.TrimSpace(version)
}

// thisDistribution reads the same sources as BOINC's client, in the same order.
func thisDistribution() distribution {
	if d := parseLSBRelease(output("lsb_release", "-a")); d != (distribution{}) {
		return d
	}
	b, _ := os.ReadFile("/etc/os-release")
	if d := parseOSRelease(string(b)); d != (distribution{}) {
		return d
	}
	b, _ = os.ReadFile("/etc/redhat-release")
	first, _, _ := strings.Cut(string(b), "\n")
	return distribution{version: strings.TrimSpace(first)}
}

// parseLSBRelease reads the output of "lsb_release -a".
func parseLSBRelease(text string) distribution {
	var d distribution
	var release, codename string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "Distributor ID":
			d.name = value
		case "Description":
			d.version = strings.Trim(value, `"`)
		case "Release":
			release = value
		case "Codename":
			codename = value
		}
	}
	return d.completed(release, codename)
}

// parseOSRelease reads a file in the format of os-release(5).
func parseOSRelease(text string) distribution {
	var d distribution
	var release, codename string
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = unquote(value)
		switch key {
		case "NAME":
			d.name = value
		case "PRETTY_NAME":
			d.version = value
		case "VERSION":
			release = value
		case "VERSION_CODENAME":
			codename = value
		}
	}
	return d.completed(release, codename)
}

// completed builds the version from its parts if the system does not provide a description.
func (d distribution) completed(release, codename string) distribution {
	d.version = cmp.Or(d.version, strings.Join(strings.Fields(d.name+" "+release+" "+codename), " "))
	return d
}

// unquote removes a shell's quotes and backslashes.
func unquote(s string) string {
	if n := len(s); n >= 2 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') {
		s = s[1 : n-1]
	}
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\$`, `$`, "\\`", "`").Replace(s)
}

// libcVersion returns the version of the GNU C library that applications find here, such as 2.36,
// or "" if there is none. This program is statically linked, so it asks other programs.
func libcVersion() string {
	if _, version, ok := strings.Cut(strings.TrimSpace(output("getconf", "GNU_LIBC_VERSION")), "glibc "); ok {
		return version
	}
	return parseLdd(output("ldd", "--version"))
}

// parseLdd reads the first line of the output of "ldd --version", such as "ldd (Debian GLIBC
// 2.36-9+deb12u14) 2.36".
func parseLdd(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	words := strings.Fields(first)
	if len(words) < 2 || words[0] != "ldd" {
		return ""
	}
	return words[len(words)-1]
}

// output returns the output of a program, or "" if it fails. It only runs programs that the system
// itself has installed.
func output(program string, args ...string) string {
	for _, dir := range []string{"/usr/bin/", "/bin/"} {
		if _, err := os.Stat(dir + program); err != nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), asking)
		defer cancel()
		cmd := exec.CommandContext(ctx, dir+program, args...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
		cmd.WaitDelay = time.Second
		out, err := cmd.Output()
		if err != nil {
			return ""
		}
		return string(out)
	}
	return ""
}
