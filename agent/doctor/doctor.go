// Package doctor finds problems that keep an agent from working and that a volunteer cannot easily
// see, and suggests how to fix them.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/gpus"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/executor/sandbox"
	"github.com/starling-grid/starling/internal/httpclient"
	"github.com/starling-grid/starling/internal/sysfault"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// A Grade is the severity of a finding.
type Grade string

// The grades. Only Wrong keeps the agent from working as it should.
const (
	Good  Grade = "ok"
	Note  Grade = "note"
	Wrong Grade = "wrong"
	Info  Grade = "info" // printed only with --verbose
)

// A Finding is the outcome of one check.
type Finding struct {
	Check string     `json:"check"`
	Grade Grade      `json:"grade"`
	Text  words.Text `json:"text"`
	Fix   words.Text `json:"fix,omitzero"` // what to do
}

// in returns findings with their texts in a language.
func in(l words.Language, all []Finding) []Finding {
	for i := range all {
		all[i].Text, all[i].Fix = all[i].Text.Only(l), all[i].Fix.Only(l)
	}
	return all
}

// wakeups is the finding about what wakes the computer.
func wakeups(by map[string]float64) Finding {
	all := 0.0
	var causes []string
	for _, cause := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) }) {
		all += by[cause]
		causes = append(causes, fmt.Sprintf("%s %.1f", cause, by[cause]))
	}
	if len(by) == 0 {
		return Finding{Check: "wake-ups", Grade: Info, Text: words.T("not known in the first minute")}
	}
	return Finding{Check: "wake-ups", Grade: Info, Text: words.T("{rate} a minute: {causes}", "rate", fmt.Sprintf("%.1f", all), "causes", strings.Join(causes, ", "))}
}

// energy is the finding about the source of the energy of tasks.
func energy(s settings.Settings) Finding {
	f := Finding{Check: "energy", Grade: Info}
	text, err := hostinfo.EnergySource()
	state := words.T("state the power of a busy CPU, watts_per_cpu in starling.toml")
	switch {
	case s.WattsPerCPU > 0:
		f.Text = words.T("computed with {watts} W for each busy CPU (watts_per_cpu in starling.toml)", "watts", s.WattsPerCPU)
	case err == nil:
		f.Text = words.Plain(text)
	case errors.Is(err, hostinfo.ErrEnergyRights):
		f.Text = words.T("not known: {why}", "why", words.T(err.Error()))
		f.Fix = words.T(`{state}, or let the service's group read them: write "z /sys/class/powercap/intel-rapl:*/energy_uj 0440 root starling - -" to /etc/tmpfiles.d/starling-energy.conf, and run systemd-tmpfiles --create as root`, "state", state)
	default:
		f.Text, f.Fix = words.T("not known: {why}", "why", words.T(err.Error())), state
	}
	return f
}

// powerOf is the finding about a number from outside.
func powerOf(p control.Power) Finding {
	if p.Wrong {
		return Finding{"power", Note, words.Plain(p.Text), words.T("correct [[power]] in starling.toml, or repair the source")}
	}
	return Finding{Check: "power", Grade: Good, Text: words.Plain(p.Text)}
}

// leastDisk is the free disk space in bytes below which an agent can hardly work.
const leastDisk = 200e6

// Examine looks at an agent's data directory, this computer and the projects'
// servers. It changes nothing. What detect finds are the computer's coprocessors. own is nil if the
// caller is not the agent. Texts are in the language of ctx.
func Examine(ctx context.Context, dataDir string, detect func(context.Context) gpus.Report, own *Tools) []Finding {
	return in(words.LanguageOf(ctx), examine(ctx, dataDir, detect, own))
}

// Tools is the port of a running agent for BOINC's tools, and whether it could be opened.
type Tools struct {
	Port   int
	Opened atomic.Bool
}

func examine(ctx context.Context, dataDir string, detect func(context.Context) gpus.Report, own *Tools) []Finding {
	all := []Finding{data(dataDir), disk(dataDir), memory(dataDir)}
	s, wrong, err := settings.InForce(dataDir, time.Now())
	_, _, errPrefs := rules.Layers(dataDir, s.Venue, time.Now())
	all = append(all, text("settings", errors.Join(wrong, err, errPrefs)))
	inForce, err := settings.ReadAccounts(dataDir)
	for _, path := range inForce.Missing {
		err = errors.Join(err, fmt.Errorf("%s is missing; restore it, or detach with: starling detach", path))
	}
	accounts := inForce.All()
	all = append(all, text("accounts", err))
	status, err := control.NewClient(dataDir).Status(ctx)
	running := err == nil
	number, opened := s.GUIRPCPort, running
	if own != nil {
		number, opened = own.Port, own.Opened.Load()
	}
	all = append(all, agentRuns(err), port(ctx, number, opened), tools(dataDir, number), box(s.Sandbox), idle(status.Helpers))
	if s.NCPUs > runtime.NumCPU() {
		all = append(all, Finding{"CPUs", Note, words.T("ncpus = {n}, but this computer has {actual}: tasks share its CPUs and may miss their deadlines", "n", s.NCPUs, "actual", runtime.NumCPU()), words.T("remove ncpus from starling.toml, unless it is for a test")})
	}
	var coprocs gpus.Set
	if gpus.Wanted(s) {
		report := detect(ctx)
		coprocs = gpus.Join(s, report)
		all = append(all, devices(s, report)...)
	}
	if running {
		all = append(all, images(status, coprocs)...)
		if s.Virtualization {
			all = append(all, virtualization(status)...)
		}
		for _, g := range status.GPUs {
			all = append(all, Finding{Check: "coprocessors", Grade: Good, Text: words.Plain(g.String())})
		}
		if runtime.GOOS != "windows" { // there it is part of the sandbox
			all = append(all, groups(status.Bounded))
		}
		all = append(all, suspended(status)...)
		for _, p := range status.Powers {
			all = append(all, powerOf(p))
		}
		all = append(all, wakeups(status.Wakeups), energy(s))
		for _, x := range status.NoEffect {
			all = append(all, Finding{Check: "preferences", Grade: Note, Text: words.Plain(x)})
		}
	}
	if len(accounts) == 0 {
		all = append(all, Finding{"projects", Note, words.T("none attached"), words.T("attach to one with: starling attach")})
	}
	way, err := httpclient.Transport(s.Proxy, s.NoProxy)
	if err != nil {
		return all // reported as settings
	}
	for _, a := range accounts {
		found := server(ctx, way, a.MasterURL, time.Now)
		for _, p := range status.Projects {
			if p.MasterURL == a.MasterURL {
				found = append(found, said(p, found)...)
			}
		}
		all = append(all, found...)
	}
	return all
}

// suspended returns the reasons why the agent does not compute, use the network or transfer files
// now.
func suspended(s control.Status) (all []Finding) {
	add := func(check, text, fix string) {
		f := Finding{check, Note, words.Plain(text), words.Plain(fix)}
		if text != "" && !slices.ContainsFunc(all, func(x Finding) bool { return x.Check == check && x.Text.String() == text }) {
			all = append(all, f)
		}
	}
	despite := func(check, text, flag string) {
		if text != "" {
			all = append(all, Finding{check, Note, words.T("at your request, whatever the preferences say: {despite}", "despite", text), words.T("return to the preferences with: {command}", "command", "starling mode auto"+flag)})
		}
	}
	add("computing", s.Compute, s.ComputeCure)
	despite("computing", s.ComputeDespite, "")
	add("network", s.Network, s.NetworkCure)
	despite("network", s.NetworkDespite, " --network")
	for _, x := range s.Transfers {
		if !x.Active {
			add("transfers", x.Trouble, x.TroubleCure)
		}
	}
	return all
}

func data(dir string) Finding {
	f := Finding{Check: "data directory", Grade: Wrong}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Grade, f.Text, f.Fix = Note, words.T("{folder} does not exist yet", "folder", dir), words.T("the agent creates it at its first start")
		return f
	case err != nil:
		f.Text, f.Fix = sysfault.Text(err), words.T("run this as the agent's user, or with sudo")
		return f
	case !st.IsDir():
		f.Text, f.Fix = words.T("{folder} is not a folder", "folder", dir), words.T("choose another folder with --data")
		return f
	}
	for _, name := range []string{"", "projects", "slots", settings.AccountsDir} {
		path := filepath.Join(dir, name)
		probe, err := os.CreateTemp(path, ".doctor-")
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			f.Text, f.Fix = sysfault.Text(err), words.T("make the agent's user the owner of the folder (chown -R), or run this as that user; if its owner is right, check that it is neither mounted read-only nor immutable (on Linux: lsattr -d)")
			return f
		}
		_ = probe.Close()
		if err := os.Remove(probe.Name()); err != nil {
			f.Text = sysfault.Text(err)
			return f
		}
	}
	return Finding{Check: f.Check, Grade: Good, Text: words.Plain(dir)}
}

// memory looks at the agent's durable state.
func memory(dir string) Finding {
	path := filepath.Join(dir, "state.db")
	f := Finding{Check: "state", Grade: Good, Text: words.T("intact")}
	db, err := state.OpenReadOnly(path)
	switch {
	case err == nil:
		_ = db.Close()
	case errors.Is(err, state.ErrInUse):
		f.Text = words.T("in use by the agent")
	case errors.Is(err, fs.ErrNotExist):
		f.Grade, f.Text = Note, words.T("none yet")
	case errors.Is(err, state.ErrDamaged):
		f.Grade, f.Text = Wrong, sysfault.Text(err)
		f.Fix = words.T("start the agent: it sets the file aside and restores the last good copy; then check the disk")
		return f
	default:
		f.Grade, f.Text, f.Fix = Wrong, sysfault.Text(err), words.T("run this as the agent's user, or with sudo")
		return f
	}
	if aside, _ := filepath.Glob(path + ".damaged-*"); len(aside) > 0 {
		f.Grade, f.Fix = Note, words.T("check the disk, and delete the file once you no longer need it")
		f.Text = words.T("{state}; a damaged file was set aside: {file}", "state", f.Text, "file", aside[len(aside)-1])
	}
	return f
}

func disk(dir string) Finding {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	free, ok := hostinfo.DiskFree(dir)
	f := Finding{Check: "disk", Grade: Good, Text: words.T("{bytes} free", "bytes", words.Bytes(free))}
	switch {
	case !ok:
		f.Grade, f.Text = Note, words.T("cannot determine the free space")
	case free < leastDisk:
		f.Grade, f.Fix = Wrong, words.T("free some disk space; without it, nothing can be downloaded or saved")
	}
	return f
}

// text judges a file that a person writes.
func text(check string, err error) Finding {
	if err != nil {
		return Finding{check, Wrong, sysfault.Text(err), words.T("fix the file; while the agent is running, the previous values stay in effect")}
	}
	return Finding{Check: check, Grade: Good, Text: words.T("valid")}
}

func agentRuns(err error) Finding {
	switch {
	case err == nil:
		return Finding{Check: "agent", Grade: Good, Text: words.T("running")}
	case errors.Is(err, control.ErrNotRunning):
		return Finding{"agent", Note, words.T("not running, or run by another user"), words.T("start it with: starling run, or: starling service install")}
	}
	return Finding{"agent", Wrong, sysfault.Text(err), words.T("see its log")}
}

// port reports whether an agent could listen on the port for BOINC's tools, unless it does.
func port(ctx context.Context, n int, opened bool) Finding {
	f := Finding{Check: "port for BOINC's tools", Grade: Good, Text: words.T("disabled")}
	if n == 0 {
		return f
	}
	f.Text = words.Plain(strconv.Itoa(n))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(n)))
	if err == nil {
		_ = l.Close()
		f.Text = words.T("{port} is free", "port", n)
	} else if !opened {
		f.Grade, f.Text = Wrong, sysfault.Text(err)
		f.Fix = words.T("a BOINC client or another agent is using the port; stop that program, or set another gui_rpc_port in starling.toml")
	}
	return f
}

func tools(dir string, port int) Finding {
	if err := settings.CheckRemoteHosts(dir); err != nil {
		return Finding{"access", Wrong, sysfault.Text(err), words.T("fix remote_hosts.cfg; until then the invalid lines allow no computer to connect")}
	}
	who := words.T("only the starling command and the dashboard, not BOINC's tools")
	if port != 0 {
		who = words.T("programs on this computer that know the password in gui_rpc_auth.cfg")
		if _, remote := settings.RemoteHosts(dir); remote {
			who = words.T("programs on this computer and on those in remote_hosts.cfg that know the password in gui_rpc_auth.cfg")
		}
	}
	return Finding{Check: "access", Grade: Good, Text: who}
}

func box(wanted bool) Finding {
	if !wanted {
		return Finding{"sandbox", Note, words.T("turned off in starling.toml"), words.T("remove the line sandbox = false unless an application needs it")}
	}
	level, enforced := sandbox.Level()
	if !enforced {
		return Finding{"sandbox", Note, words.Plain(level), words.T("attach only to projects that you trust")}
	}
	return Finding{Check: "sandbox", Grade: Good, Text: words.Plain(level)}
}

// groups reports which limits of tasks the system enforces.
func groups(bounded string) Finding {
	if bounded == "" {
		return Finding{"task limits", Note, words.T("enforced by the agent, which checks every few seconds"), words.T("to have the system enforce them, run the agent as a systemd service with Delegate=yes (starling service install)")}
	}
	return Finding{Check: "task limits", Grade: Good, Text: words.T("enforced by the system with control groups: {limits}", "limits", bounded)}
}

// idle judges the sources of input. These are the sources of this process and the helpers that
// report to the agent.
func idle(helpers []string) Finding {
	f := Finding{Check: "idle detection", Grade: Good}
	names := hostinfo.IdleSources()
	if len(helpers) > 0 {
		f.Text = words.T("by {sources}", "sources", strings.Join(append(helpers, names...), "; "))
		return f
	}
	if hostinfo.Unseen() {
		how := words.T("not possible")
		if len(names) > 0 {
			how = words.T("by {sources} only", "sources", strings.Join(names, ", "))
		}
		f.Grade, f.Text = Note, words.T("{how}: a desktop does not report to logind when it is used, and no helper reports from it, so it counts as not in use", "how", how)
		f.Fix = words.T(prefs.SeeDesktop)
		return f
	}
	if len(names) == 0 {
		f.Grade, f.Text = Note, words.T("not available on this computer")
		f.Fix = words.T("if you use its screen, run in your session: starling session; if tasks get in your way, use: starling mode never --for 2h")
		return f
	}
	f.Text = words.T("by {sources}", "sources", strings.Join(names, ", "))
	return f
}
