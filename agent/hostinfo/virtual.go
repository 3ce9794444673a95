package hostinfo

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/starling-grid/starling/protocol"
)

// A Virtualization lists the programs that can run virtual machines and containers for tasks here.
type Virtualization struct {
	VirtualBox string // its version, or "" if it is not usable
	Docker     string // the version of DockerType, or "" if containers cannot be run
	DockerType protocol.DockerType
	// Unusable contains, for each program that is installed but does not work, the reason.
	Unusable []string
}

// probing is the maximum time of all the checks.
const probing = time.Minute

// FindVirtualization looks for VirtualBox, Podman and Docker by running their commands. With Podman
// it starts a container in which this program prints its version. The container is made in dataDir,
// without downloading anything.
//
// Source: BOINC client/hostinfo_unix.cpp, HOST_INFO::get_virtualbox_version and get_docker_version.
// BOINC's client downloads an image to try containers.
func FindVirtualization(ctx context.Context, dataDir string) (v Virtualization) {
	ctx, cancel := context.WithTimeout(ctx, probing)
	defer cancel()
	unusable := func(name string, err error) {
		v.Unusable = append(v.Unusable, fmt.Sprintf("%s is installed and does not work here: %v", name, err))
	}
	if path := vboxManage(); path != "" {
		text, err := says(ctx, path, "--version")
		if version := firstLine(text); err == nil && dotted(version) {
			v.VirtualBox = version
		} else if err == nil { // a warning is printed first
			unusable("VirtualBox", fmt.Errorf("%.200s", version))
		} else {
			unusable("VirtualBox", err)
		}
	}
	if runtime.GOOS == "windows" {
		return v // on Windows they run inside Linux systems
	}
	if path, err := exec.LookPath("podman"); err == nil {
		text, err := says(ctx, path, "--version")
		if err == nil {
			err = tryPodman(ctx, path, dataDir)
		}
		if err == nil {
			v.Docker, v.DockerType = versionIn(text), protocol.Podman
			return v
		}
		unusable("Podman", err)
	}
	if path, err := exec.LookPath("docker"); err == nil {
		if text, _ := says(ctx, path, "--version"); strings.Contains(strings.ToLower(text), "podman") {
			return v // Podman under the name docker
		}
		text, err := says(ctx, path, "version", "--format", "{{.Server.Version}}")
		if version := firstLine(text); err == nil && dotted(version) {
			v.Docker, v.DockerType = version, protocol.Docker
		} else if err != nil {
			unusable("Docker", err)
		}
	}
	return v
}

// tryPodman runs this program in a container that contains nothing else. It uses Podman's default
// network, because projects' programs use it, too.
func tryPodman(ctx context.Context, podman, dataDir string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp(dataDir, "container-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(root) }()
	args := []string{"run", "--rm", "--security-opt", "label=disable", "--volume", self + ":/program:ro"}
	for _, dir := range []string{"/lib", "/lib64", "/usr/lib"} { // needed if this program was built for this computer and is linked dynamically
		if _, err := os.Stat(dir); err == nil {
			args = append(args, "--volume", dir+":"+dir+":ro")
		}
	}
	_, err = says(ctx, podman, append(args, "--rootfs", root, "/program", "--version")...)
	return err
}

// vboxManage returns the path of VirtualBox's command, or "" if it is not installed.
func vboxManage() string {
	places := []string{"/usr/bin/VBoxManage", "/usr/local/bin/VBoxManage"}
	if runtime.GOOS == "windows" {
		places = []string{filepath.Join(os.Getenv("ProgramFiles"), "Oracle", "VirtualBox", "VBoxManage.exe")}
	}
	for _, path := range places {
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// says runs a program and returns its output. The error is the last line that the program wrote to
// stderr.
func says(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var errors strings.Builder
	cmd.Stderr = &errors
	cmd.WaitDelay = time.Second // its children may keep the pipe open
	out, err := cmd.Output()
	if lines := strings.Split(strings.TrimSpace(errors.String()), "\n"); err != nil && lines[0] != "" {
		err = fmt.Errorf("%.300s", lines[len(lines)-1])
	}
	return string(out), err
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line)
}

// versionIn finds the version in "podman version 4.9.3" or "Docker version 24.0.7, build …".
func versionIn(text string) string {
	_, rest, _ := strings.Cut(text, "version ")
	if words := strings.FieldsFunc(rest, func(r rune) bool { return r == ',' || r <= ' ' }); len(words) > 0 {
		return words[0]
	}
	return ""
}

// dotted reports whether a text starts with a version of three numbers.
func dotted(text string) bool {
	var a, b, c int
	n, _ := fmt.Sscanf(text, "%d.%d.%d", &a, &b, &c)
	return n == 3
}
