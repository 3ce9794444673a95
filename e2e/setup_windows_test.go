package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows/registry"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/testwait"
)

// A setup is Starling as installed on this computer by the installer.
type setup struct {
	t              *testing.T
	ctx            context.Context
	programs, data string
}

// run runs a program of the installation, or its installer.
func (s setup) run(program string, args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.ctx, program, args...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s", filepath.Base(program), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// entry returns a value of the entry among installed apps, or "" if there is none.
func (s setup) entry(name string) string {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `Software\Microsoft\Windows\CurrentVersion\Uninstall\Starling`, registry.QUERY_VALUE)
	if err != nil {
		return ""
	}
	defer key.Close()
	text, _, err := key.GetStringValue(name)
	if err != nil {
		return ""
	}
	return text
}

// answers waits until the service's agent answers, and returns its projects.
func (s setup) answers() []control.Project {
	s.t.Helper()
	var status control.Status
	testwait.Try(s.t, s.ctx, "the agent to answer", func() (err error) {
		// With Wine, a client that connects too early may never get an answer, see useUp in
		// agent/control.
		ctx, cancel := context.WithTimeout(s.ctx, 5*time.Second)
		defer cancel()
		status, err = control.NewClient(s.data).Status(ctx)
		return err
	})
	return status.Projects
}

// uninstall returns when the uninstaller, which continues in a copy of itself, has ended.
func (s setup) uninstall(args ...string) {
	s.t.Helper()
	s.run(filepath.Join(s.programs, "uninstall.exe"), append([]string{"/S"}, args...)...)
	testwait.Until(s.t, "the installation to be gone", func() bool {
		return s.entry("DisplayName") == "" && !installer.Installed() && !exists(s.programs)
	})
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestSetup installs Starling for the whole computer, upgrades it while it is running, and removes
// it, first without and then with its data.
func TestSetup(t *testing.T) {
	installers := os.Getenv("STARLING_SETUP")
	if installers == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("tools/wine/test has not built the installer: is nsis installed?")
		}
		t.Skip("there is no installer: tools/wine/test builds it, with nsis")
	}
	if installer.Installed() {
		t.Skip("Starling is installed here; it is left alone and its installer NOT tested")
	}
	ctx := patience(t)
	s := setup{t, ctx, filepath.Join(os.Getenv("ProgramFiles"), "Starling"), filepath.Join(os.Getenv("ProgramData"), "Starling")}
	program := filepath.Join(s.programs, "starling.exe")
	p := newProject(t, ctx)
	serve(t, ctx, p)

	s.run(filepath.Join(installers, "starling-0.9.1-setup.exe"), "/S")
	for _, path := range []string{
		program, filepath.Join(s.programs, "starling-detect.exe"), filepath.Join(s.programs, "starling-wrap.exe"),
		filepath.Join(os.Getenv("ProgramData"), `Microsoft\Windows\Start Menu\Programs\Starling\Starling Dashboard.lnk`),
	} {
		if !exists(path) {
			t.Errorf("there is no %s", path)
		}
	}
	if got := s.entry("DisplayVersion"); got != "0.9.1" {
		t.Errorf("the installed app has version %q", got)
	}
	if icon, _, _ := strings.Cut(s.entry("DisplayIcon"), ","); !exists(icon) {
		t.Errorf("the installed app's icon is in %q, which is not there", icon)
	}
	if projects := s.answers(); len(projects) != 0 {
		t.Errorf("a new agent works for %v", projects)
	}
	s.run(program, "attach", p.URL, "--key", p.Key)

	upgrade := filepath.Join(installers, "starling-0.9.2-setup.exe")
	inUse, err := os.Open(program)
	must(t, err)
	defer inUse.Close()
	refused := exec.CommandContext(ctx, upgrade, "/S")
	if err := refused.Run(); err == nil || refused.ProcessState.ExitCode() != 2 || s.entry("DisplayVersion") != "0.9.1" {
		t.Errorf("upgraded while the program was in use: %v, version %s", err, s.entry("DisplayVersion"))
	}
	if projects := s.answers(); len(projects) != 1 {
		t.Errorf("not upgraded, the agent works for %v, want %s", projects, p.URL)
	}
	_ = inUse.Close()

	s.run(upgrade, "/S")
	if got := s.entry("DisplayVersion"); got != "0.9.2" {
		t.Errorf("upgraded, the installed app has version %q", got)
	}
	if got := s.run(program, "--version"); !strings.Contains(got, "0.9.2") {
		t.Errorf("upgraded, the program is %q", got)
	}
	if projects := s.answers(); len(projects) != 1 || projects[0].MasterURL != p.URL {
		t.Errorf("upgraded, the agent works for %v, want %s", projects, p.URL)
	}

	s.run(program, "service", "stop")
	if out, err := exec.CommandContext(ctx, program, "dashboard", "--no-browser").CombinedOutput(); err == nil || !strings.Contains(string(out), "starling service start") {
		t.Errorf("while the service is stopped: %v, %s", err, out)
	}
	s.run(program, "service", "start")
	s.answers()

	s.uninstall()
	if !exists(filepath.Join(s.data, "state.db")) {
		t.Error("the tasks went with the program")
	}
	s.run(upgrade, "/S")
	if projects := s.answers(); len(projects) != 1 {
		t.Errorf("installed again, the agent works for %v, want %s", projects, p.URL)
	}
	s.uninstall("/PURGE")
	testwait.Until(t, "tasks and settings to be gone", func() bool { return !exists(s.data) })
}
