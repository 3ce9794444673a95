package installer

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// scratch simulates a computer with an empty root folder.
type scratch struct {
	root  string
	calls []string
	known bool // whether the service's user exists
}

func (c *scratch) run(name string, args ...string) (string, error) {
	c.calls = append(c.calls, name+" "+strings.Join(args, " "))
	if name == "useradd" {
		c.known = true
	}
	if slices.Contains(args, "is-active") {
		return "inactive", errors.New("exit status 3")
	}
	return "", nil
}

func (c *scratch) account(name string) (int, int, error) {
	if !c.known {
		return 0, 0, user.UnknownUserError(name)
	}
	return os.Getuid(), os.Getgid(), nil
}

func (c *scratch) service(perUser bool) systemd {
	return systemd{
		Service: Service{Executable: "/usr/local/bin/starling", DataDir: "/var/lib/starling", PerUser: perUser},
		root:    c.root, config: filepath.Join(c.root, "config"), run: c.run, account: c.account,
		group: func(name string) bool { return name == "render" },
	}
}

func TestInstallAndUninstall(t *testing.T) {
	for _, c := range []struct {
		perUser bool
		unit    string
		calls   []string
	}{
		{false, "etc/systemd/system/starling.service", []string{
			"useradd --system --user-group --home-dir /var/lib/starling --no-create-home --shell /usr/sbin/nologin starling",
			"usermod -aG render starling",
			"systemctl daemon-reload", "systemctl enable --now starling", "systemctl restart starling", "systemctl is-active starling",
			"systemctl disable --now starling", "systemctl stop starling.slice", "systemctl daemon-reload",
		}},
		{true, "config/systemd/user/starling.service", []string{
			"systemctl --user daemon-reload", "systemctl --user enable --now starling", "systemctl --user restart starling", "systemctl --user is-active starling",
			"systemctl --user disable --now starling", "systemctl --user stop starling.slice", "systemctl --user daemon-reload",
		}},
	} {
		host := &scratch{root: t.TempDir()}
		s := host.service(c.perUser)
		if _, err := s.do(Install); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(host.root, c.unit))
		if err != nil || string(b) != s.Unit() {
			t.Errorf("unit %q, %v", b, err)
		}
		slice := filepath.Join(filepath.Dir(filepath.Join(host.root, c.unit)), "starling.slice")
		if b, err := os.ReadFile(slice); err != nil || string(b) != s.Slice() {
			t.Errorf("slice %q, %v", b, err)
		}
		if _, err := s.do(Install); err == nil || !strings.Contains(err.Error(), "already exists") {
			t.Errorf("a second installation: %v", err)
		}
		if _, err := s.do(Restart); err != nil {
			t.Error(err)
		}
		if text, err := s.do(Status); err != nil || text != "inactive" {
			t.Errorf("status %q, %v", text, err)
		}
		if _, err := s.do(Uninstall); err != nil {
			t.Error(err)
		}
		for _, name := range []string{filepath.Join(host.root, c.unit), slice} {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s is left", name)
			}
		}
		if !slices.Equal(host.calls, c.calls) {
			t.Errorf("ran\n%s\nwant\n%s", strings.Join(host.calls, "\n"), strings.Join(c.calls, "\n"))
		}
		if _, err := os.Stat(filepath.Join(host.root, "var/lib/starling")); (err == nil) == c.perUser {
			t.Errorf("data directory: %v", err)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	host := &scratch{root: t.TempDir()}
	s := host.service(false)
	s.Executable = "/home/ada/starling"
	if _, err := s.do(Install); err == nil || !strings.Contains(err.Error(), "sudo install /home/ada/starling /home/ada/starling-detect /usr/local/bin/") {
		t.Errorf("a program where the service cannot see it: %v", err)
	}
	s = host.service(false)
	s.DataDir = "/root"
	if _, err := s.do(Install); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("data where the service cannot see it: %v", err)
	}
	name := filepath.Join(host.root, "usr/lib/systemd/system/starling.service")
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range []Verb{Install, Uninstall} {
		if _, err := host.service(false).do(v); err == nil || !strings.Contains(err.Error(), "package") {
			t.Errorf("%s beside a package: %v", v, err)
		}
	}
	if len(host.calls) > 0 {
		t.Errorf("ran %q", host.calls)
	}
}

// TestUnitIsGood makes systemd verify the units.
func TestUnitIsGood(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; the units are NOT tested")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Service{
		{Executable: self, DataDir: "/var/lib/starling"},
		{Executable: self, DataDir: "/srv/odd place/100%"},
		{Executable: self, DataDir: "/home/ada/.local/share/starling", PerUser: true},
	} {
		dir := t.TempDir()
		name, slice := filepath.Join(dir, "starling.service"), filepath.Join(dir, SliceName)
		for name, text := range map[string]string{name: s.Unit(), slice: s.Slice()} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"verify", "--man=no"}
		if s.PerUser {
			args = append(args, "--user")
		}
		cmd := exec.Command(analyze, append(args, name, slice)...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
		out, err := cmd.CombinedOutput()
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, dir) || strings.Contains(line, "starling.service:") || strings.Contains(line, SliceName+":") {
				t.Errorf("%+v: %s", s, line)
			}
		}
		if err != nil {
			t.Errorf("systemd-analyze: %v: %s\n%s", err, out, s.Unit())
		}
	}
}

func TestUnitKeepsApplicationsIn(t *testing.T) {
	unit := Service{Executable: "/usr/bin/starling", DataDir: "/var/lib/starling"}.Unit()
	for _, want := range []string{
		"User=starling", "ExecStart=/usr/bin/starling run --data /var/lib/starling", "StateDirectory=starling", "Restart=on-failure",
		"Type=notify", "WatchdogSec=4min",
		"NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=yes", "PrivateTmp=yes", "CapabilityBoundingSet=",
		"Slice=starling.slice", "DevicePolicy=closed", "DeviceAllow=char-drm rw", "DeviceAllow=char-kfd rw", "DeviceAllow=char-nvidia* rw",
	} {
		if !slices.Contains(strings.Split(unit, "\n"), want) {
			t.Errorf("no line %q in\n%s", want, unit)
		}
	}
	for _, bad := range []string{"PrivateDevices", "MemoryDenyWriteExecute", "PrivateNetwork"} {
		if strings.Contains(unit, bad) {
			t.Errorf("%s would break applications or the detection of use", bad)
		}
	}
	if got, want := quote(`/a b/100%`), `"/a b/100%%"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
