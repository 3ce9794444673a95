package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/starling-grid/starling/internal/atomicfile"
	"github.com/starling-grid/starling/internal/owner"
)

// Do carries out v and returns a message for the user.
func (s Service) Do(v Verb) (string, error) {
	if _, err := os.Stat("/run/systemd/system"); err != nil {
		return "", errors.New("systemd is not running on this computer; have your init system start: " + s.Executable + " run --data " + s.DataDir)
	}
	config, err := os.UserConfigDir()
	if s.PerUser && err != nil {
		return "", err
	}
	return systemd{Service: s, root: "/", config: config, run: command, account: account, group: group}.do(v)
}

// Installed reports whether there is a service for the whole computer.
func Installed() bool {
	s := systemd{root: "/"}
	_, err := os.Stat(s.unitFile())
	return err == nil || s.packaged() != ""
}

// systemd controls a service. In tests it works below another root.
type systemd struct {
	Service
	root    string
	config  string // the user's folder for settings
	run     func(name string, args ...string) (string, error)
	account func(name string) (uid, gid int, err error)
	group   func(name string) bool // reports whether a group of that name exists
}

func command(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err != nil {
		return text, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, text)
	}
	return text, nil
}

// unitFile returns the path of the unit that install writes.
func (s systemd) unitFile() string {
	if s.PerUser {
		return filepath.Join(s.config, "systemd/user", Name+".service")
	}
	return filepath.Join(s.root, "etc/systemd/system", Name+".service")
}

// sliceFile returns the path of the unit of the service's slice.
func (s systemd) sliceFile() string { return filepath.Join(filepath.Dir(s.unitFile()), SliceName) }

// packaged returns the unit that a package manager has installed, if there is one.
func (s systemd) packaged() string {
	for _, dir := range []string{"usr/lib/systemd/system", "lib/systemd/system"} {
		name := filepath.Join(s.root, dir, Name+".service")
		if _, err := os.Stat(name); err == nil && !s.PerUser {
			return name
		}
	}
	return ""
}

func (s systemd) systemctl(args ...string) (string, error) {
	if s.PerUser {
		args = append([]string{"--user"}, args...)
	}
	return s.run("systemctl", args...)
}

func (s systemd) do(v Verb) (string, error) {
	switch v {
	case Install:
		return s.install()
	case Uninstall:
		return s.uninstall()
	case Start, Stop, Restart:
		_, err := s.systemctl(string(v), Name)
		return "", err
	case Status:
		text, err := s.systemctl("is-active", Name)
		if text != "" { // is-active fails for inactive services
			return text, nil
		}
		return "", err
	}
	return "", fmt.Errorf("unknown action %q for a service", v)
}

func (s systemd) install() (string, error) {
	if name := s.packaged(); name != "" {
		return "", fmt.Errorf("the service was already installed by the package manager (%s); start it with: systemctl enable --now %s", name, Name)
	}
	if _, err := os.Lstat(s.unitFile()); err == nil {
		return "", fmt.Errorf("%s already exists; remove the service first with: starling service uninstall", s.unitFile())
	}
	if !s.PerUser {
		for _, dir := range []string{"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"} {
			if strings.HasPrefix(s.Executable, dir) {
				return "", fmt.Errorf("the service has no access to %s; run sudo install %s %s /usr/local/bin/ first, and use that copy", dir, s.Executable, filepath.Join(filepath.Dir(s.Executable), "starling-detect"))
			}
			if strings.HasPrefix(s.DataDir+"/", dir) {
				return "", fmt.Errorf("the service has no access to %s; choose another --data, or use --user for a service that runs as you", dir)
			}
		}
		if err := s.makeData(); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Dir(s.unitFile()), 0o755); err != nil { //nolint:gosec // units are for all to read
		return "", err
	}
	if err := atomicfile.Write(s.sliceFile(), []byte(s.Slice()), 0o644); err != nil {
		return "", err
	}
	if err := atomicfile.Write(s.unitFile(), []byte(s.Unit()), 0o644); err != nil {
		return "", err
	}
	if _, err := s.systemctl("daemon-reload"); err != nil {
		return "", err
	}
	if _, err := s.systemctl("enable", "--now", Name); err != nil {
		return "", err
	}
	told := "Installed " + s.unitFile() + " and started the service. Its log: journalctl -u " + Name
	if s.PerUser {
		told = "Installed " + s.unitFile() + " and started the service. Its log: journalctl --user -u " + Name +
			"\nTo keep it running while you are logged out: loginctl enable-linger"
	}
	return told, nil
}

// makeData creates the service's user, who is in the groups that may use GPUs, and the data
// directory.
func (s systemd) makeData() error {
	uid, gid, err := s.account(Name)
	if errors.As(err, new(user.UnknownUserError)) {
		if _, err := s.run("useradd", "--system", "--user-group", "--home-dir", s.DataDir, "--no-create-home", "--shell", "/usr/sbin/nologin", Name); err != nil {
			return err
		}
		uid, gid, err = s.account(Name)
	}
	if err != nil {
		return err
	}
	if groups := slices.DeleteFunc([]string{"render", "video"}, func(name string) bool { return !s.group(name) }); len(groups) > 0 {
		if _, err := s.run("usermod", "-aG", strings.Join(groups, ","), Name); err != nil {
			return err
		}
	}
	dir := filepath.Join(s.root, s.DataDir)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o751); err != nil { //nolint:gosec // see Unit
		return err
	}
	return owner.Give(dir, uid, gid)
}

func account(name string) (uid, gid int, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		return 0, 0, err
	}
	uid, err = strconv.Atoi(u.Uid)
	if err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	return uid, gid, err
}

func group(name string) bool {
	_, err := user.LookupGroup(name)
	return err == nil
}

func (s systemd) uninstall() (string, error) {
	if name := s.packaged(); name != "" {
		return "", fmt.Errorf("the service belongs to a package (%s); remove the package, or stop the service with: systemctl disable --now %s", name, Name)
	}
	if _, err := os.Lstat(s.unitFile()); err != nil {
		return "", fmt.Errorf("the service is not installed: %w", err)
	}
	if _, err := s.systemctl("disable", "--now", Name); err != nil {
		return "", err
	}
	if err := os.Remove(s.unitFile()); err != nil {
		return "", err
	}
	_, _ = s.systemctl("stop", SliceName)                                               // it is empty
	if err := os.Remove(s.sliceFile()); err != nil && !errors.Is(err, fs.ErrNotExist) { // an earlier version had none
		return "", err
	}
	_, err := s.systemctl("daemon-reload")
	return "Removed the service. Tasks and settings are kept in " + s.DataDir, err
}
