package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/installer"
	"github.com/starling-grid/starling/internal/testhost"
	"github.com/starling-grid/starling/internal/testwait"
)

const (
	unitFile   = "/usr/lib/systemd/system/starling.service"
	sliceFile  = "/usr/lib/systemd/system/starling.slice"
	systemData = "/var/lib/starling"
)

// older is the last commit whose agent stores its state in format 1.
const older = "133abd7db200c010633f9dd66df8aa947f326f18"

// packages makes the agent's Debian packages of two versions, once for all tests: 0.9.1 from an
// older commit, and 0.9.2 from the current tree, which continues with the data of the older
// version.
var packages = sync.OnceValues(func() (files [2]string, err error) {
	tree, commit := filepath.Join(string(bin), "older"), older
	if !hasHistory() {
		fmt.Fprintln(os.Stderr, "the history is cut off: an upgrade within today's version is tested instead of one from "+older)
		commit = "HEAD"
	}
	if err := checkOut(commit, tree); err != nil {
		return files, err
	}
	dir := filepath.Join(string(bin), "packages")
	for i, version := range []string{"0.9.1", "0.9.2"} {
		build, formats := filepath.Join(tree, "tools/packages/build"), "deb"
		if i == 1 {
			build, formats = "../tools/packages/build", "deb rpm archive"
		}
		cmd := exec.Command(build, append([]string{version, dir}, strings.Fields(formats)...)...)
		cmd.Env = append(os.Environ(), "PACKAGES=starling", "PLATFORMS=linux/"+runtime.GOARCH, "TRIMPATH=") // compiled already
		if out, err := cmd.CombinedOutput(); err != nil {
			return files, fmt.Errorf("%v: %w\n%s", cmd, err, out)
		}
		files[i] = filepath.Join(dir, "starling_"+version+"_"+runtime.GOARCH+".deb")
	}
	return files, nil
})

// hasHistory reports whether the older version can be built.
func hasHistory() bool { return exec.Command("git", "cat-file", "-e", older+"^{commit}").Run() == nil }

// checkOut writes the files of a commit into a folder.
func checkOut(commit, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	cmd := exec.Command("sh", "-c", `git -C .. archive "$1" | tar -x -C "$2"`, "sh", commit, dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	return nil
}

func buildPackages(t *testing.T) (old, upgrade string) {
	t.Helper()
	files, err := packages()
	must(t, err)
	return files[0], files[1]
}

// TestArchiveAndRPM examines the packages that other tests do not install: each contains the
// program, its pages and its completions.
func TestArchiveAndRPM(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_PACKAGES", "test-packages")
	needs(t, "rpm", "tar")
	_, deb := buildPackages(t)
	ctx := patience(t)
	dir := t.TempDir()
	output := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	archive := "starling-0.9.2-linux-" + runtime.GOARCH
	output("tar", "-C", dir, "-xzf", filepath.Join(filepath.Dir(deb), archive+".tar.gz"))
	if got := output(filepath.Join(dir, archive, "starling"), "--version"); got != "starling version 0.9.2\n" {
		t.Errorf("the archive's program says %q", got)
	}
	licenses, err := os.ReadFile(filepath.Join(dir, archive, "THIRD-PARTY-LICENSES"))
	if err != nil || !strings.Contains(string(licenses), "\ngithub.com/spf13/cobra v1.") || !strings.Contains(string(licenses), "\nthe Go standard library 1.") {
		t.Errorf("the archive's licenses: %v: %.200s", err, licenses)
	}
	for _, file := range []string{"LICENSE", "share/starling/man/starling.1.gz", "share/starling/starling.fish", "share/starling/starling.toml", "share/starling/apparmor"} {
		if _, err := os.Stat(filepath.Join(dir, archive, file)); err != nil {
			t.Error(err)
		}
	}
	for place, program := range map[string]string{"the archive's": filepath.Join(dir, archive, "starling"), "a link's": filepath.Join(dir, "link")} {
		if place == "a link's" {
			must(t, os.Symlink(filepath.Join(dir, archive, "starling"), program))
		}
		out, _ := exec.CommandContext(ctx, program, "--data", filepath.Join(dir, "data"), "doctor").CombinedOutput()
		if !strings.Contains(string(out), "coprocessors") || strings.Contains(string(out), "is not installed") {
			t.Errorf("%s program does not find starling-detect: %s", place, out)
		}
	}
	if got := output(filepath.Join(dir, archive, "starling"), "reference", "starling.toml"); !strings.Contains(got, "releases/latest") {
		t.Errorf("the archive's program does not ask for newer versions: %s", got)
	}
	arch := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	rpm := filepath.Join(filepath.Dir(deb), "starling-0.9.2-1."+arch+".rpm")
	if got := output("rpm", "-qp", "--qf", "%{name} %{version} %{arch} %{license}", rpm); got != "starling 0.9.2 "+arch+" Apache-2.0" {
		t.Errorf("the package says it is %q", got)
	}
	files := output("rpm", "-qpl", rpm)
	for _, want := range []string{"/usr/bin/starling\n", "/usr/libexec/starling/starling-detect\n", unitFile, sliceFile, "/usr/share/man/man1/starling-task-suspend.1.gz", "/usr/share/zsh/site-functions/_starling", "/usr/share/starling/prefs.toml", "/usr/share/doc/starling/THIRD-PARTY-LICENSES", "/usr/lib/sysusers.d/starling.conf", "/usr/lib/tmpfiles.d/starling.conf", "/usr/lib/systemd/system-preset/50-starling.preset", "/usr/share/metainfo/io.github.starling_grid.starling.metainfo.xml", "/usr/share/starling/schema/prefs.toml.json", "/usr/share/starling/starling.ps1", "/usr/lib/systemd/user/starling-session.service", "/usr/lib/systemd/user/graphical-session.target.wants/starling-session.service", "/etc/xdg/autostart/starling-session.desktop"} {
		if !strings.Contains(files, want) {
			t.Errorf("no %s in %s", want, files)
		}
	}
	if scripts := output("rpm", "-qp", "--scripts", rpm); !strings.Contains(scripts, "systemd-sysusers starling.conf") || strings.Contains(scripts, "useradd") {
		t.Errorf("the package makes no user: %s", scripts)
	}
}

// likeTheOwner makes a user carry out all the usual operations with an agent.
func (s *scratch) likeTheOwner(user string) {
	s.t.Helper()
	const editor = "/usr/local/bin/append"
	if err := os.WriteFile(s.root+editor, []byte("#!/bin/sh\necho ram_max_used_idle_pct = 80 >>\"$1\"\n"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	for _, tt := range []struct{ want, command string }{
		{"max_cpus is 1 CPUs (prefs_override.toml)", "starling prefs set max_cpus 1"},
		{"max_cpus is 0 CPUs (default)", "starling prefs unset max_cpus"},
		{"Preferences saved", "EDITOR=" + editor + " starling prefs edit"},
		{"ram_max_used_idle_pct", "starling prefs show | grep '80 .*prefs.toml'"},
		{"have no errors", "starling prefs check"},
		{"e2e has a share of 300", "starling share e2e 300"},
		{"responds, and names its scheduler", "starling doctor"},
	} {
		if out, err := s.try(user, "sh", "-c", tt.command); err != nil || !strings.Contains(out, tt.want) {
			s.t.Errorf("%s by a member: %v: %s", tt.command, err, out)
		}
	}
	out, err := s.try(user, "starling", "dashboard", "--no-browser")
	if err != nil {
		s.t.Fatalf("dashboard by a member: %v: %s", err, out)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	address, _, _ := strings.Cut(strings.TrimSpace(out), "/login")
	for _, u := range []string{strings.TrimSpace(out), address + "/"} {
		resp, err := browser.Get(u) //nolint:noctx // on loopback
		if err != nil {
			s.t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			s.t.Errorf("dashboard by a member: %s: %s", u, resp.Status)
		}
	}
}

// configure writes the files that an administrator would. The agent uses no port except for its
// dashboard.
func (s *scratch) configure() (settings string) {
	s.t.Helper()
	port, err := testhost.FreePort()
	if err != nil {
		s.t.Fatal(err)
	}
	settings = fmt.Sprintf("# mine\nncpus = 1\nno_priority_change = true\nallow_multiple_clients = true\ngui_rpc_port = 0\ndashboard_port = %d\n", port)
	prefs := "suspend_cpu_usage = 0\nrun_on_batteries = true\ndisk_interval = 1\n"
	for name, text := range map[string]string{"starling.toml": settings, "prefs.toml": prefs} {
		if err := os.WriteFile(filepath.Join(s.root, systemData, name), []byte(text), 0o640); err != nil {
			s.t.Fatal(err)
		}
	}
	return settings
}

// awaitStatus asks for the status inside until it satisfies ok.
func (s *scratch) awaitStatus(what string, ok func(control.Status) bool) (st control.Status) {
	s.t.Helper()
	testwait.Try(s.t, s.ctx, what, func() error {
		st = control.Status{}
		out, err := s.try("", "starling", "status", "--json")
		if err == nil {
			err = json.Unmarshal([]byte(out), &st)
		}
		if err == nil && ok(st) {
			return nil
		}
		return errors.Join(err, fmt.Errorf("got %s", out))
	})
	return st
}

func fingerprint(t *testing.T, files ...string) (sum [32]byte) {
	t.Helper()
	h := sha256.New()
	for _, f := range files {
		b, err := os.ReadFile(f)
		must(t, err)
		h.Write(b)
	}
	return [32]byte(h.Sum(nil))
}

// TestDebianPackage makes dpkg install the agent, upgrade it while a task runs, and remove it. The
// new version finishes the task, which is credited once. Ordinary users control the agent if they
// are in its group.
func TestDebianPackage(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_PACKAGES", "test-packages")
	old, upgraded := buildPackages(t)
	ctx := patience(t)
	s := newScratch(t, ctx, string(bin))
	system := []string{"/etc/passwd", "/etc/group", "/var/lib/dpkg/status"}
	before := fingerprint(t, system...)
	const exponent = 110503
	p := newProject(t, ctx)
	work(t, ctx, p, 1, exponent)
	serve(t, ctx, p)

	s.likeUbuntu()
	s.run("dpkg", "--purge", "starling") // in case this computer has one
	s.run("dpkg", "--install", old)
	if out := s.run("starling", "--version"); !strings.Contains(out, "0.9.1") {
		t.Errorf("the version is %q", out)
	}
	if out, _ := s.try("", "starling", "status"); !strings.Contains(out, "no agent is running; start it with: sudo starling service start") {
		t.Errorf("without an agent: %q", out)
	}
	mine := s.configure()
	log := filepath.Join(t.TempDir(), "agent.log")
	var agent *testhost.Process
	stop := func() {
		if agent != nil {
			if err := agent.Stop(testhost.Grace); err != nil {
				t.Error(err)
			}
			agent = nil
		}
	}
	t.Cleanup(func() {
		stop()
		showLog(t, log)
	})
	agent = s.service(unitFile, log)
	s.awaitStatus("the agent", func(st control.Status) bool { return st.Running && st.Version == "0.9.1" })

	// A member of the group can control the agent at once. Other users get an explanation of how to
	// join.
	s.run("useradd", "--create-home", "--user-group", "ada")
	if out, err := s.try("ada", "starling", "attach", p.URL, "--key", p.Key); err == nil || !strings.Contains(out, "members of the group starling") || !strings.Contains(out, "sudo usermod -aG starling ada") {
		t.Errorf("a user of no group: %v: %s", err, out)
	}
	s.run("usermod", "-aG", "starling", "ada")
	if out, err := s.try("ada", "starling", "attach", p.URL, "--key", p.Key); err != nil || !strings.Contains(out, "Attached to e2e as") {
		t.Errorf("attach by a member: %v: %s", err, out)
	}
	if out, err := s.try("ada", "starling", "status"); err != nil || !strings.Contains(out, p.URL) {
		t.Errorf("status for a member: %v: %s", err, out)
	}
	if out, err := s.try("ada", "sh", "-c", "cd "+systemData+" && (cat accounts/* || cat starling.toml || head -c1 state.db)"); err == nil {
		t.Errorf("members of the group read what they need not: %s", out)
	}

	// The agent keeps working during the upgrade, and the service manager restarts it.
	s.awaitStatus("a task with a checkpoint", func(st control.Status) bool {
		_, err := os.Stat(filepath.Join(s.root, systemData, "slots", "0", "checkpoint"))
		return len(st.Tasks) == 1 && st.Tasks[0].Running && err == nil
	})
	s.run("dpkg", "--install", upgraded)
	s.profile("after an upgrade", packagedProfile, "--skip-kernel-load --skip-cache "+packagedProfile+"\n--replace --skip-read-cache "+usedProfile+"\n")
	if b, err := os.ReadFile(s.root + sliceFile); err != nil || string(b) != installer.Packaged.Slice() {
		t.Errorf("slice %q, %v", b, err)
	}
	if b, err := os.ReadFile(s.root + unitFile); err != nil || string(b) != installer.Packaged.Unit() {
		t.Errorf("the unit is %q, %v", b, err)
	}
	if out, err := s.try("", "/usr/libexec/starling/starling-detect", "opencl"); err != nil || !strings.Contains(out, `"starling":true`) {
		t.Errorf("starling-detect: %s, %v", out, err)
	}
	if out, err := s.try("", "id", "-nG", "starling"); err != nil || !strings.Contains(out, "video") {
		t.Errorf("the service's user may not use GPUs: it is in %s, %v", out, err)
	}
	for _, file := range []string{"/usr/share/man/man1/starling-attach.1.gz", "/usr/share/man/man5/prefs.toml.5.gz", "/usr/share/doc/starling/THIRD-PARTY-LICENSES", "/usr/share/applications/starling.desktop", "/etc/xdg/autostart/starling-session.desktop", "/usr/lib/systemd/user/starling-session.service", "/usr/share/bash-completion/completions/starling", systemData + "/prefs.toml"} {
		if _, err := os.Stat(s.root + file); err != nil {
			t.Error(err)
		}
	}
	s.awaitStatus("the agent to work on", func(st control.Status) bool { return st.Version == "0.9.1" && len(st.Tasks) == 1 })
	stop()
	agent = s.service(unitFile, log)
	s.awaitStatus("the new version", func(st control.Status) bool { return st.Running && st.Version == "0.9.2" })
	s.likeTheOwner("ada")
	if _, err := os.Stat(filepath.Join(s.root, systemData, "state.db.format-1")); err != nil && hasHistory() {
		t.Error(err)
	}
	creditedOnce(t, ctx, p, 1, exponent)
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "resumed=true") {
		t.Errorf("the task did not go on from its checkpoint: %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(s.root, systemData, "starling.toml")); err != nil || string(b) != mine {
		t.Errorf("settings after an upgrade: %q, %v", b, err)
	}
	stop()

	// Removal keeps the volunteer's data, but purging does not.
	s.run("dpkg", "--remove", "starling")
	if _, err := os.Stat(s.root + "/usr/bin/starling"); err == nil {
		t.Error("the program is left after removal")
	}
	s.profile("after removal", "", "--remove "+usedProfile+"\n")
	if _, err := os.Stat(filepath.Join(s.root, systemData, "state.db")); err != nil {
		t.Error(err)
	}
	s.run("touch", "/refuse") // as an AppArmor that cannot read the profile
	s.run("dpkg", "--install", upgraded)
	s.profile("with an older AppArmor", "", "--skip-kernel-load --skip-cache "+packagedProfile+"\n")
	s.run("rm", "/refuse")
	s.run("ln", "-s", "/nowhere", usedProfile)
	s.run("dpkg", "--install", upgraded)
	s.profile("an administrator's link", "/nowhere", "")
	s.run("sh", "-c", "rm "+usedProfile+" && cd /etc/apparmor.d && mkdir disable && ln -s ../starling disable") // as aa-disable does
	s.run("dpkg", "--install", upgraded)
	s.profile("disabled by an administrator", packagedProfile, "--skip-kernel-load --skip-cache "+packagedProfile+"\n")
	s.run("sh", "-c", "rm "+usedProfile+" && echo mine >"+usedProfile)
	s.awaitStatus("what was known before removal", func(st control.Status) bool {
		return !st.Running && len(st.Projects) == 1 && st.Projects[0].Name == "e2e"
	})
	s.run("dpkg", "--purge", "starling")
	s.profile("an administrator's own, after purging", "mine", "")
	if _, err := os.Stat(s.root + systemData); err == nil {
		t.Error("data is left after purging")
	}
	if out, err := s.try("", "getent", "passwd", "starling"); err == nil {
		t.Errorf("the user is left after purging: %s", out)
	}
	if out, err := s.try("", "getent", "group", "starling"); err == nil {
		t.Errorf("the group is left after purging: %s", out)
	}
	if fingerprint(t, system...) != before {
		t.Error("the computer itself has changed")
	}
}

// The AppArmor profile in the package, and where AppArmor looks for it.
const (
	packagedProfile = "/usr/share/starling/apparmor"
	usedProfile     = "/etc/apparmor.d/starling"
)

// likeUbuntu gives the scratch a kernel that restricts user namespaces, and a parser of AppArmor that
// only writes down its arguments.
func (s *scratch) likeUbuntu() {
	s.t.Helper()
	s.run("sh", "-c", `mount -t tmpfs none /proc/sys/kernel && echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns &&
		mkdir -p /etc/apparmor.d && printf '#!/bin/sh\necho "$*" >>/parsed; ! test -e /refuse\n' >/usr/sbin/apparmor_parser && chmod 755 /usr/sbin/apparmor_parser`)
}

// profile checks the profile that AppArmor finds, which is a link or a text, and the calls of its
// parser since the last check.
func (s *scratch) profile(when, want, calls string) {
	s.t.Helper()
	if out := s.run("sh", "-c", "readlink "+usedProfile+" || cat "+usedProfile+" 2>/dev/null || true"); strings.TrimSpace(out) != want {
		s.t.Errorf("%s: the profile is %q, want %q", when, out, want)
	}
	if out := s.run("sh", "-c", "if test -e /parsed; then cat /parsed; rm /parsed; fi"); out != calls {
		s.t.Errorf("%s: the parser was called with %q, want %q", when, out, calls)
	}
}

// TestProfileForUbuntu makes AppArmor's own parser compile the profile, for the kernel whose features
// it is written for. The kernel here need not have AppArmor.
func TestProfileForUbuntu(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_PACKAGES", "test-packages")
	where, err := exec.Command("../tools/desktops/make", "--where").Output()
	system := filepath.Join(strings.TrimSpace(string(where)), "system")
	if err == nil {
		_, err = os.Stat(filepath.Join(system, "usr/sbin/apparmor_parser"))
	}
	if err != nil {
		t.Skip("there is no bench with AppArmor, see above; the profile for Ubuntu is NOT compiled")
	}
	profile, err := os.ReadFile("../tools/packages/starling.apparmor")
	must(t, err)
	compile := func(text string) (string, error) {
		cmd := exec.CommandContext(patience(t), "chroot", system, "/usr/sbin/apparmor_parser", "--skip-kernel-load", "--skip-cache", "--features-file=/etc/apparmor.d/abi/4.0", "--stdout")
		cmd.Stdin = strings.NewReader(text)
		out, err := cmd.Output()
		return string(out), err
	}
	compiled, err := compile(string(profile))
	if err != nil || !strings.Contains(compiled, "starling") {
		t.Fatalf("%v: %q", err, compiled)
	}
	if out, err := compile(strings.Replace(string(profile), "/usr/bin/starling", "/home/ada/starling-1.0/starling", 1)); err != nil || out == compiled {
		t.Errorf("an archive's profile: %v", err)
	}
	if out, err := compile(strings.Replace(string(profile), "userns,", "", 1)); err != nil || out == compiled {
		t.Errorf("the rule makes no difference: %v", err)
	}
}

// TestServiceOfSystemd makes systemd itself run the installed service. An upgrade restarts it, a
// task is finished and credited with the unit's restrictions, and removal stops it.
func TestServiceOfSystemd(t *testing.T) {
	t.Parallel()
	onDemand(t, "STARLING_PACKAGES", "test-packages")
	old, upgraded := buildPackages(t)
	ctx := patience(t)
	s := bootScratch(t, ctx, string(bin))
	const exponent = 21701
	p := newProject(t, ctx)
	work(t, ctx, p, 1, exponent)
	serve(t, ctx, p)
	t.Cleanup(func() {
		if t.Failed() {
			late, cancel := context.WithTimeout(context.Background(), 20*time.Second) // the test's may have ended
			defer cancel()
			s.ctx = late
			out, _ := s.try("", "journalctl", "--no-pager", "--lines=100")
			t.Log(out)
		}
	})
	active := func() string {
		out, _ := s.try("", "systemctl", "is-active", "starling")
		return strings.TrimSpace(out)
	}

	s.run("dpkg", "--purge", "starling") // in case this computer has one
	s.run("dpkg", "--install", old)
	s.awaitStatus("the agent", func(st control.Status) bool { return st.Running && st.DataDir == systemData && st.Version == "0.9.1" })
	s.run("dpkg", "--install", upgraded)
	s.awaitStatus("the new version", func(st control.Status) bool { return st.Running && st.Version == "0.9.2" })
	s.configure()
	s.run("starling", "service", "restart")
	s.awaitStatus("the agent again", func(st control.Status) bool { return st.Running && st.CPUs == 1 })
	if out := s.run("systemctl", "show", "--property=Type,WatchdogUSec,NotifyAccess", "starling"); !strings.Contains(out, "Type=notify\n") || !strings.Contains(out, "WatchdogUSec=4min\n") {
		t.Errorf("the service is not watched: %s", out)
	}
	s.awaitStatus("control groups for its tasks", func(st control.Status) bool { return strings.HasPrefix(st.Bounded, "processes") })
	s.run("starling", "attach", p.URL, "--key", p.Key)
	creditedOnce(t, ctx, p, 1, exponent)

	// The unit's restrictions are in effect.
	pid := strings.TrimSpace(s.run("systemctl", "show", "--property=MainPID", "--value", "starling"))
	limits := s.run("cat", "/proc/"+pid+"/status")
	for _, want := range []string{"CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} {
		if !strings.Contains(limits, want) {
			t.Errorf("no %q in\n%s", want, limits)
		}
	}
	if out, err := s.try("", "touch", "/proc/"+pid+"/root/usr/written"); err == nil || !strings.Contains(out, "Read-only") {
		t.Errorf("the service can write to the system: %v: %s", err, out)
	}
	if out := s.run("journalctl", "--unit=starling", "--no-pager"); !strings.Contains(out, "result reported") {
		t.Errorf("the journal has no log of the agent: %s", out)
	}
	if _, err := os.Stat(filepath.Join(s.root, systemData, "stdout.log")); err == nil {
		t.Error("the log is kept twice")
	}

	// An agent that hangs is killed and started again.
	impatient := filepath.Join(s.root, "/etc/systemd/system/starling.service.d/impatient.conf")
	must(t, errors.Join(os.MkdirAll(filepath.Dir(impatient), 0o755), os.WriteFile(impatient, []byte("[Service]\nWatchdogSec=4\nRestartSec=1\n"), 0o644)))
	s.run("systemctl", "daemon-reload")
	s.run("systemctl", "restart", "starling")
	hung := strings.TrimSpace(s.run("systemctl", "show", "--property=MainPID", "--value", "starling"))
	time.Sleep(6 * time.Second) //nolint:forbidigo // that nothing happens for longer than the watchdog waits
	if now := strings.TrimSpace(s.run("systemctl", "show", "--property=MainPID", "--value", "starling")); now != hung {
		t.Errorf("the watchdog killed a service that works: %s, then %s", hung, now)
	}
	s.run("kill", "-STOP", hung)
	testwait.Try(t, ctx, "the watchdog to notice that the service hangs", func() error {
		if now := strings.TrimSpace(s.run("systemctl", "show", "--property=MainPID", "--value", "starling")); now == hung || now == "0" {
			return errors.New("process " + now)
		}
		return nil
	})
	if err := os.RemoveAll(filepath.Dir(impatient)); err != nil {
		t.Error(err)
	}
	s.run("systemctl", "daemon-reload")

	s.run("dpkg", "--remove", "starling")
	if got := active(); got != "inactive" {
		t.Errorf("after removal the service is %s", got)
	}
	s.run("dpkg", "--install", upgraded)
	if got := active(); got != "active" {
		t.Errorf("installed again, the service is %s", got)
	}
	s.run("dpkg", "--purge", "starling")
	if out, err := s.try("", "getent", "passwd", "starling"); err == nil {
		t.Errorf("the user is left after purging: %s", out)
	}
	if _, err := os.Stat(s.root + systemData); err == nil {
		t.Error("data is left after purging")
	}
}
