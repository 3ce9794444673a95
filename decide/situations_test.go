package decide_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/power"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/decide/storage"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
	"github.com/starling-grid/starling/resource"
	"github.com/starling-grid/starling/state"
	"github.com/starling-grid/starling/workfetch"
)

// A situation is one that people encounter: its code, the text that they read, and the remedy.
type situation struct{ code, text, cure string }

// document is the list of all situations, which the tests below keep.
const document = "../docs/situations.md"

// TestSituations provokes every reason that the policies give and collects the texts that people
// read. docs/situations.md is the result, and it is complete. UPDATE=1 writes it.
func TestSituations(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Situations\n\n" +
		"The reasons in `starling status`, `starling why`, the dashboard and `starling doctor`, by their code in JSON. Each code has one or two\n" +
		"example sentences. Some codes have further wordings, so search this page by the code (`--json`) rather than by the sentence. A test\n" +
		"provokes each of them, with its own numbers, names and times, and writes this page (`UPDATE=1 go test ./decide -run TestSituations`).\n")
	section := func(title, about string, list []situation, declared []string) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| Code | Sentence | Remedy |\n|---|---|---|\n", title, about)
		seen := make(map[string]bool)
		for _, s := range list {
			if s.code == "" || s.text == "" {
				t.Errorf("%s: %+v says nothing", title, s)
			}
			seen[s.code] = true
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.code, cell(s.text), cell(cmp.Or(s.cure, "–")))
		}
		for _, code := range declared {
			if !seen[code] {
				t.Errorf("%s: %s is not provoked", title, code)
			}
			delete(seen, code)
		}
		for code := range seen {
			t.Errorf("%s: %s is no code", title, code)
		}
	}
	section("A project that cannot be reached, or refuses",
		"`trouble_code` in `starling status --json`. Provoked with real servers in `scheduler_op/trouble_test.go`.",
		troubles(), codes(t, "../reason", "trouble.go", "Code"))
	section("An account manager that cannot be reached, or refuses",
		"`trouble_code` in `starling manager status --json`, or a code of the list above.",
		managers(), codes(t, "../reason", "manager.go", "Code"))
	section("Tasks that fail",
		"`failing.code`. Provoked with real programs in `agent/failing_test.go`.",
		failures(), codes(t, "../reason", "failure.go", "Code"))
	section("Why work is requested of a project, or not", "`work_code`, or the code of a project's trouble, above.",
		requests(t), codes(t, "../reason", "work.go", "Code"))
	section("Why a project sent no work", "`code` in `refused` of a project, while `work_code` is `no_work_backoff`. BOINC's servers give sentences without codes. See also [the protocol](protocol.md).",
		refusals(), codes(t, "../protocol", ".go", "RefusalCode"))
	section("Why a task runs, or not", "`code` of a task in `starling why --json`.",
		tasks(t), append(codes(t, "../reason", "task.go", "Code"), string(reason.GPUSuspended), string(reason.ComputingSuspended), string(reason.Draining)))
	section("Why a file is not moved or a task not started yet",
		"`trouble_code` of a transfer in `starling status --json`, or the code of a project's trouble, above. Provoked with real servers, files and programs in `agent/obstacle_test.go`.",
		obstacles(), codes(t, "../reason", "obstacle.go", "Code"))
	section("Why nothing is computed or transferred", "`code` in `compute` and `network`. `starling log` has each of them with its time.",
		suspensions(), append(codes(t, "../reason", "suspension.go", "Code"), string(reason.DiskFull)))
	section("Stored files that were removed or refused",
		"`code` of `storage.removed` of a project. `storage.problems` has the refused files. Provoked with an agent in `agent/stored_test.go`.",
		storedFiles(), codes(t, "storage", ".go", "Code"))
	section("Preferences without effect", "`no_effect`. They are set, but do nothing on this computer.", ineffective(), keys(ineffective()))

	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(document, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if is, err := os.ReadFile(document); err != nil || string(is) != b.String() {
		t.Errorf("%s differs, %v: UPDATE=1 go test ./decide -run TestSituations", document, err)
	}
}

func cell(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "|", "\\|"), "\n", " ")
}

// keys returns the codes of a list that is itself the declaration.
func keys(list []situation) (all []string) {
	for _, s := range list {
		all = append(all, s.code)
	}
	return all
}

const url = "https://a.example/"

func troubles() (list []situation) {
	about := map[reason.Code]string{
		reason.ProxyDown: "192.0.2.1:3128", reason.ProxyRefused: "HTTP 407 Proxy Authentication Required",
		reason.NotFound: "HTTP 404 Not Found", reason.Closed: "HTTP 410 Gone", reason.Forbidden: "HTTP 403 Forbidden",
		reason.TooManyRequests: "HTTP 429 Too Many Requests", reason.Maintenance: "HTTP 503 Service Unavailable",
		reason.ServerError: "HTTP 500 Internal Server Error", reason.HTTPError: "HTTP 418 I'm a teapot",
		reason.PlatformRefused:   "This project doesn't support computers of type z80-cpm",
		reason.KeyRefused:        "Invalid or missing account key. To fix, remove and add this project.",
		reason.ClientTooOld:      "Your BOINC client software is too old. Please install the current version.",
		reason.ComputerRefused:   "Not accepting requests from this host",
		reason.Moved:             "https://new.example/",
		reason.NoVirtualBox:      "VirtualBox is not installed",
		reason.NoContainers:      "Docker not present",
		reason.SigningKeyChanged: "Invalid code signing key. To fix, remove and add this project.",
	}
	for _, s := range reason.Troubles {
		x := reason.Reason{Code: s.Code, About: cmp.Or(about[s.Code], "a.example")}
		list = append(list, situation{string(s.Code), x.Text(now).String(), x.Cure(url).String()})
	}
	return list
}

func managers() (list []situation) {
	about := map[reason.Code]string{reason.ManagerNone: "a.example", reason.ManagerRefuses: "the account is locked", reason.ManagerClosed: "HTTP 410 Gone"}
	for _, s := range reason.Managers {
		x := reason.Reason{Code: s.Code, About: cmp.Or(about[s.Code], "HTTP 503 Service Unavailable")}
		list = append(list, situation{string(s.Code), x.Text(now).String(), x.ManagerCure(url).String()})
	}
	return list
}

func failures() (list []situation) {
	about := map[reason.Code]string{
		reason.Crashed: "signal 11, segmentation fault", reason.ExitStatus: "exit status 3",
		reason.NotStarted: "its application version has no main program", reason.NoInterpreter: "/usr/bin/python3", reason.OwnFileMissing: "app_2.00",
		reason.InputMissing: "in_1 (HTTP 404 Not Found)", reason.OutputWrong: "out_1: file size too big",
	}
	for _, s := range reason.Failures {
		x := reason.Reason{Task: "w1_0", Code: s.Code, About: cmp.Or(about[s.Code], "in_1")}
		text := x.Failing(1).String()
		if !x.Computer() {
			text = map[reason.Code]string{ // see agent/view
				reason.AbortedByProject: "The project no longer needs this task and aborted it. It will be reported at the next contact.",
				reason.AbortedByUser:    "You aborted this task. It will be reported at the next contact.",
				reason.AbortedByManager: "Your account manager aborted this task. It will be reported at the next contact.",
				reason.TransferCanceled: "Failed: " + x.Text(now).String() + ". It will be reported at the next contact.",
			}[s.Code]
		}
		list = append(list, situation{string(s.Code), text, x.Cure(url).String()})
	}
	return list
}

func obstacles() (list []situation) {
	about := map[reason.Code]string{
		reason.NotOnServer: "HTTP 404 Not Found", reason.NoUploads: "HTTP 404 Not Found", reason.UploadRefused: "file size too big", reason.ApplicationWaits: "no license is free",
	}
	for _, s := range reason.Obstacles {
		o := reason.Reason{Code: s.Code, About: about[s.Code]}
		list = append(list, situation{string(s.Code), o.Text(now).String(), o.Cure("").String()})
	}
	return list
}

// requests makes a pass give each reason about work.
func requests(t *testing.T) (list []situation) {
	queued := func(s *decide.Snapshot, n int, change func(*decide.Result)) {
		for i := range n {
			r := decide.Result{
				ID: "r" + strconv.Itoa(i), Phase: decide.Runnable, Stated: time.Hour, Received: now.Add(-time.Hour), Deadline: now.Add(1000 * time.Hour),
			}
			if change != nil {
				change(&r)
			}
			s.Results = append(s.Results, r)
		}
	}
	alone := func(s *decide.Snapshot) *decide.Project { s.Projects = s.Projects[:1]; return &s.Projects[0] }
	for _, x := range []struct {
		code    reason.Code
		provoke func(s *decide.Snapshot)
	}{
		{reason.Ask, func(s *decide.Snapshot) { alone(s) }},
		{reason.BufferFull, func(s *decide.Snapshot) { alone(s); queued(s, 30, nil) }},
		{reason.OtherFirst, func(s *decide.Snapshot) { s.Projects[1].Debt = 3600 }},
		{reason.Overserved, func(s *decide.Snapshot) { s.Projects[0].Debt = -90000; queued(s, 10, nil) }},
		{reason.Deadlines, func(s *decide.Snapshot) {
			alone(s).Latency = 30 * time.Minute
			queued(s, 2, func(r *decide.Result) { r.Deadline = now.Add(100 * time.Hour) })
		}},
		{reason.Unproved, func(s *decide.Snapshot) {
			alone(s).Estimates = jobsched.Estimator{}
			queued(s, 2, func(r *decide.Result) { r.Stated = 10 * time.Minute })
		}},
		{reason.FirstWaits, func(s *decide.Snapshot) {
			alone(s).Estimates = jobsched.Estimator{}
			queued(s, 2, func(r *decide.Result) { r.Stated, r.Suspended = 10*time.Minute, true })
		}},
		{reason.Stuck, func(s *decide.Snapshot) {
			alone(s)
			queued(s, 5, func(r *decide.Result) { r.Phase, r.Received = decide.Fetching, now.Add(-24*time.Hour) })
		}},
		{reason.TooManyTasks, func(s *decide.Snapshot) { alone(s); queued(s, workfetch.MaxHeld, nil) }},
		{reason.NoMoreWork, func(s *decide.Snapshot) { alone(s).NoMoreWork = true }},
		{reason.ProjectSuspended, func(s *decide.Snapshot) { alone(s).Suspended = true }},
		{reason.NoCPUApps, func(s *decide.Snapshot) { alone(s).NoCPUApps = true }},
		{reason.NoGPUApps, func(s *decide.Snapshot) {
			p := alone(s)
			p.NoCPUApps, p.Others = true, map[resource.Kind]decide.Stream{resource.NVIDIA: {NoApps: true}}
			s.Coprocs = gpus(1, prefs.Permission{})
		}},
		{reason.GPUExcluded, func(s *decide.Snapshot) {
			p := alone(s)
			p.NoCPUApps, p.Others = true, map[resource.Kind]decide.Stream{resource.NVIDIA: {Excluded: true}}
			s.Coprocs = gpus(1, prefs.Permission{})
		}},
		{reason.GPUSuspended, func(s *decide.Snapshot) {
			alone(s).NoCPUApps = true
			s.Coprocs = gpus(1, prefs.Default().MayUseGPUs(prefs.Conditions{Now: now}, prefs.Mode{Kind: prefs.Never}))
		}},
		{reason.UploadBacklog, func(s *decide.Snapshot) {
			alone(s)
			queued(s, 5, func(r *decide.Result) { r.Phase = decide.Sending })
		}},
		{reason.HasTask, func(s *decide.Snapshot) {
			alone(s).NonCPUIntensive = true
			queued(s, 1, func(r *decide.Result) { r.NonCPUIntensive = true })
		}},
		{reason.UploadFirst, func(s *decide.Snapshot) { alone(s).Uploading = now; queued(s, 2, nil) }},
		{reason.RequestDelay, func(s *decide.Snapshot) { alone(s).Contact.MinRPCTime = now.Add(time.Hour) }},
		{reason.NoWorkBackoff, func(s *decide.Snapshot) {
			p := alone(s)
			p.Backoff, p.BackoffWhy = now.Add(time.Hour), "The last request brought no work (Project has no tasks available)"
		}},
		{reason.TasksFail, func(s *decide.Snapshot) {
			p := alone(s)
			p.Backoff, p.Failures, p.Failed = now.Add(time.Hour), 2, reason.Reason{Task: "w1_0", Code: reason.Crashed, About: "signal 11, segmentation fault"}
		}},
		{reason.NetworkSuspended, func(s *decide.Snapshot) {
			alone(s)
			s.Network = prefs.Default().MayTransfer(prefs.Conditions{Now: now}, prefs.Mode{Kind: prefs.Never})
		}},
		{reason.ComputingSuspended, func(s *decide.Snapshot) {
			alone(s)
			s.Compute = prefs.Default().MayCompute(prefs.Conditions{Now: now}, prefs.Mode{Kind: prefs.Never})
		}},
		{reason.Conversing, func(s *decide.Snapshot) {
			p := alone(s)
			p.Talking, p.TalkingSince = true, now.Add(-time.Second)
		}},
		{reason.Draining, func(s *decide.Snapshot) { alone(s); s.Drain.Scope = decide.DrainRunning }},
	} {
		r := decide.Pass(snapshot(x.provoke)).Projects[0].Fetch
		if r.Code != x.code {
			t.Errorf("%s: got %+v", x.code, r)
		}
		list = append(list, situation{string(x.code), r.Text.String(), r.Cure.String()})
	}
	return list
}

// refusals returns the reasons of a server, with amounts that fit each unit.
func refusals() (list []situation) {
	for _, code := range protocol.RefusalCodes {
		r := reason.Reason{Code: reason.Code(code), App: "upper", Need: 9, Have: 8}
		switch code {
		case protocol.RefusedMemory, protocol.RefusedDisk, protocol.RefusedBandwidth:
			r.Need, r.Have = 8<<30, 4<<30
		case protocol.RefusedQuota:
			r.Until = now.Add(12 * time.Hour)
		case protocol.RefusedDeadline, protocol.RefusedTooRecent:
			r.Need, r.Have = 7200, 3600
		case protocol.RefusedClientVersion:
			r.Have, r.Detail = 70000, "BOINC 8.0.0 or newer"
		case protocol.RefusedPlanClass:
			r.Detail = "a processor with avx2"
		case protocol.RefusedVirtualBox:
			r.Detail = "VirtualBox, which this computer does not offer"
		case protocol.RefusedContainers:
			r.Detail = "Podman or Docker, which this computer does not offer"
		case protocol.RefusedPreferences:
			r.Detail = "leave out this application"
		}
		list = append(list, situation{string(code), r.Text(now).String(), r.Cure(url).String()})
	}
	return list
}

// tasks makes a pass give each reason about a task, the last one of the pass.
func tasks(t *testing.T) (list []situation) {
	const me = "w1_0"
	for _, x := range []struct {
		code    reason.Code
		provoke func(s *decide.Snapshot, r *decide.Result)
	}{
		{reason.RunDebt, func(*decide.Snapshot, *decide.Result) {}},
		{reason.RunDebt, func(s *decide.Snapshot, _ *decide.Result) {
			p := prefs.Default()
			p.CPUUsageLimit, p.NiuCPUUsageLimit = 1, 1
			s.Duty = p.Duty(true)
		}},
		{reason.RunDebt, func(_ *decide.Snapshot, r *decide.Result) { r.Started, r.Elapsed = true, 2*time.Hour }},
		{reason.RunDebt, func(_ *decide.Snapshot, r *decide.Result) { r.Started, r.Elapsed = true, 20*time.Hour }},
		{reason.RunDeadline, func(_ *decide.Snapshot, r *decide.Result) { r.Deadline = now.Add(2 * time.Hour) }},
		{reason.NoCPU, func(s *decide.Snapshot, r *decide.Result) {
			s.CPUs = 1
			s.Results = []decide.Result{{ID: "w0_0", Phase: decide.Runnable, Stated: time.Hour, Deadline: now.Add(100 * time.Hour), Running: true, Started: true}}
		}},
		{reason.NoCPU, func(s *decide.Snapshot, r *decide.Result) {
			s.CPUs, r.Overuse = 1, 0.9
			s.Results = []decide.Result{{ID: "w0_0", Phase: decide.Runnable, Stated: time.Hour, Deadline: now.Add(100 * time.Hour), Running: true, Started: true}}
		}},
		{reason.NoMemory, func(s *decide.Snapshot, r *decide.Result) {
			s.Memory, r.Memory, s.Bound = 1<<30, 2<<30, prefs.Default().MemoryBound(2<<30, true)
		}},
		{reason.NoMemory, func(s *decide.Snapshot, r *decide.Result) {
			s.Memory, s.AllMemory, r.Memory, s.Bound = 12<<30, 25<<30, 838<<30, prefs.Default().MemoryBound(25<<30, true)
		}},
		{reason.NoGPU, func(s *decide.Snapshot, r *decide.Result) {
			s.Coprocs = gpus(1, prefs.Permission{})
			r.Coproc = &resource.Coproc{Kind: resource.NVIDIA}
			s.Results = []decide.Result{{ID: "w0_0", Phase: decide.Runnable, Stated: time.Hour, Deadline: now.Add(100 * time.Hour), Running: true, Started: true, Usage: resource.Usage{Coproc: &resource.Coproc{Kind: resource.NVIDIA, On: []int{0}}}}}
		}},
		{reason.GPUMissing, func(s *decide.Snapshot, r *decide.Result) {
			s.Coprocs = gpus(1, prefs.Permission{})
			r.Coproc = &resource.Coproc{Kind: resource.NVIDIA, Memory: 6 << 30}
		}},
		{reason.GPUMissing, func(s *decide.Snapshot, r *decide.Result) {
			s.Coprocs = gpus(1, prefs.Permission{})
			r.Coproc = &resource.Coproc{Kind: resource.NVIDIA, Except: []int{0}}
		}},
		{reason.GPUSuspended, func(s *decide.Snapshot, r *decide.Result) {
			s.Coprocs = gpus(1, prefs.Default().MayUseGPUs(prefs.Conditions{Now: now, IdleKnown: true}, prefs.Mode{}))
			r.Coproc = &resource.Coproc{Kind: resource.NVIDIA}
		}},
		{reason.Limited, func(s *decide.Snapshot, r *decide.Result) {
			s.Limits = []jobsched.Limit{{Name: words.Plain("max_concurrent for " + url), Max: 1}}
			r.Under = []int{0}
			s.Results = []decide.Result{{ID: "w0_0", Phase: decide.Runnable, Stated: time.Hour, Deadline: now.Add(100 * time.Hour), Running: true, Started: true, Under: []int{0}}}
		}},
		{reason.OneAtATime, func(s *decide.Snapshot, r *decide.Result) {
			r.NonCPUIntensive = true
			s.Results = []decide.Result{{ID: "w0_0", Phase: decide.Runnable, Running: true, Started: true, Usage: r.Usage, Deadline: now.Add(100 * time.Hour)}}
		}},
		{reason.Postponed, func(_ *decide.Snapshot, r *decide.Result) { r.NotBefore = now.Add(time.Hour) }},
		{reason.Suspended, func(_ *decide.Snapshot, r *decide.Result) { r.Suspended = true }},
		{reason.ComputingSuspended, func(s *decide.Snapshot, _ *decide.Result) {
			s.Compute = prefs.Default().MayCompute(prefs.Conditions{Now: now, Battery: prefs.Yes, OtherCPU: -1}, prefs.Mode{})
		}},
		{reason.NoNetwork, func(s *decide.Snapshot, r *decide.Result) {
			s.Network = prefs.Default().MayTransfer(prefs.Conditions{Now: now, OtherCPU: -1}, prefs.Mode{Kind: prefs.Never})
			r.NeedsNetwork = true
		}},
		{reason.SetAside, func(_ *decide.Snapshot, r *decide.Result) { r.SetAside = true }},
		{reason.WaitsForFiles, func(_ *decide.Snapshot, r *decide.Result) { r.Phase = decide.Fetching }},
		{reason.SendsFiles, func(_ *decide.Snapshot, r *decide.Result) { r.Phase = decide.Sending }},
		{reason.ReadyToReport, func(_ *decide.Snapshot, r *decide.Result) { r.Phase, r.Completed = decide.Ready, now }},
		{reason.ReadyToReport, func(_ *decide.Snapshot, r *decide.Result) {
			r.Phase, r.Completed, r.Failed = decide.Ready, now, reason.Reason{Task: me, Code: reason.ExitStatus, About: "exit status 3", Detail: "Cannot allocate frobnicator"}
		}},
		{reason.ComparingClocks, func(s *decide.Snapshot, r *decide.Result) {
			r.Deadline, s.Projects[r.Project].ClockUnknown = now.Add(-time.Hour), true
		}},
		{reason.GivenUp, func(_ *decide.Snapshot, r *decide.Result) { r.Deadline = now.Add(-time.Hour) }},
		{reason.Detached, func(s *decide.Snapshot, _ *decide.Result) { s.Projects[0].Leaving = true }},
		{reason.Draining, func(s *decide.Snapshot, _ *decide.Result) { s.Drain.Scope = decide.DrainRunning }},
		{reason.Draining, func(s *decide.Snapshot, _ *decide.Result) { s.Drain.Scope = decide.DrainCheckpoint }},
	} {
		s := snapshot(func(s *decide.Snapshot) {
			r := decide.Result{ID: me, Phase: decide.Runnable, Stated: time.Hour, Received: now.Add(-time.Hour), Deadline: now.Add(200 * time.Hour)}
			x.provoke(s, &r)
			s.Results = append(s.Results, r)
		})
		plan := decide.Pass(s)
		r := plan.Results[len(plan.Results)-1]
		if r.Code != x.code {
			t.Errorf("%s: got %+v", x.code, r)
		}
		list = append(list, situation{string(x.code), r.Text.String(), r.Cure.String()})
	}
	s := snapshot(func(s *decide.Snapshot) {
		s.Results = []decide.Result{{ID: me, Phase: decide.Runnable, Stated: 82 * time.Hour, Started: true, Deadline: now.Add(10 * time.Hour)}}
	})
	late := decide.Pass(s).Results[0]
	if late.Late != 72*time.Hour {
		t.Errorf("late by %v", late.Late)
	}
	for _, deadline := range []time.Time{now.Add(10 * time.Hour), now.Add(-time.Hour)} {
		text, cure := decide.Lateness(me, late.Late, deadline, now, s.CPUBound)
		list = append(list, situation{string(late.Code), late.Text.String() + " " + text.String(), cure.String()})
	}
	return list
}

// gpus returns n NVIDIA GPUs with 4 GB each.
func gpus(n int, use prefs.Permission) []decide.Pool {
	p := decide.Pool{Pool: resource.Pool{Kind: resource.NVIDIA, Weight: 100}, Compute: use}
	for i := range n {
		p.Devices = append(p.Devices, resource.Device{Number: i, Memory: 4 << 30})
	}
	return []decide.Pool{p}
}

func suspensions() (list []situation) {
	compute, transfer, useGPUs := prefs.Prefs.MayCompute, prefs.Prefs.MayTransfer, prefs.Prefs.MayUseGPUs
	for _, x := range []struct {
		change func(*prefs.Prefs, *prefs.Conditions, *prefs.Mode)
		may    func(prefs.Prefs, prefs.Conditions, prefs.Mode) prefs.Permission
	}{
		{func(_ *prefs.Prefs, _ *prefs.Conditions, m *prefs.Mode) { m.Kind = prefs.Never }, compute},
		{func(p *prefs.Prefs, _ *prefs.Conditions, _ *prefs.Mode) { p.StartHour, p.EndHour = 20, 6 }, compute},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.RunOnBatteries, c.Battery = false, prefs.Yes
		}, compute},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) { p.RunIfUserActive, c.IdleKnown = false, true }, compute},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.SuspendIfNoRecentInput, c.IdleKnown, c.Idle = 60, true, 2*time.Hour
		}, compute},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.SuspendCPUUsage, p.NiuSuspendCPUUsage, c.OtherCPU = 25, 25, 60
		}, compute},
		{func(_ *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) { c.Exclusive = "doom" }, compute},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.StartHour, p.EndHour, p.RunOnBatteries, c.Battery = 20, 6, false, prefs.Yes
		}, compute},
		{func(_ *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) { c.ExclusiveGPU = "doom" }, useGPUs},
		{func(_ *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			s := power.Signal{Power: settings.Power{Name: "Grid", Unit: "g/kWh", Limit: 300, Hysteresis: 20}}
			s.Take(power.Reading{Number: 412}, nil, now)
			p, _ := s.Denies(now)
			c.Powers = []prefs.Power{p}
		}, compute},
		{func(_ *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			s := power.Signal{Power: settings.Power{Name: "Battery", Unit: "%", Limit: 50, Above: true, OnlyGPUs: true}}
			s.Take(power.Reading{Number: 12}, nil, now)
			p, _ := s.Denies(now)
			c.Powers = []prefs.Power{p}
		}, useGPUs},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.GPUTemperatureCeiling, c.GPUTemperature = 80, 85
		}, useGPUs},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) { p.TemperatureCeiling, c.Temperature = 80, 85 }, compute},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.DailyXferLimitMB, p.DailyXferPeriodDays, c.Transferred = 500, 30, 500
		}, transfer},
		{func(p *prefs.Prefs, c *prefs.Conditions, _ *prefs.Mode) {
			p.NetworkWifiOnly, c.Metered = true, prefs.Yes
		}, transfer},
	} {
		p, c, m := prefs.Default(), prefs.Conditions{Now: now, OtherCPU: -1}, prefs.Mode{}
		x.change(&p, &c, &m)
		r := x.may(p, c, m)
		list = append(list, situation{string(r.Code), r.Why.String(), r.Cure.String()})
	}
	full := view.Facts{
		Now: now, DB: new(state.DB), Prefs: prefs.Merge(), Host: protocol.HostInfo{NCPUs: 1, DiskTotal: 100 << 30}, Disk: view.Disk{Used: 2 << 30},
	}
	r := full.Snapshot().Compute
	return append(list, situation{string(r.Code), r.Why.String(), r.Cure.String()})
}

func storedFiles() (list []situation) {
	s := storage.Snapshot{Limit: 10 << 30, Projects: []storage.Project{{Limit: 2 << 30}}}
	for _, x := range []struct {
		code storage.Code
		cure string
	}{
		{storage.Unneeded, ""},
		{storage.Expired, ""},
		{storage.Lost, ""},
		{storage.ProjectLimit, "Set max_sticky_gb in the project's account file higher."},
		{storage.OverallLimit, "Set max_sticky_gb in prefs.toml higher."},
		{storage.DiskLimit, "Free some disk space, or allow more."},
	} {
		list = append(list, situation{string(x.code), storage.Verdict{Code: x.code}.Text(s, storage.File{}), x.cure})
	}
	return list
}

func ineffective() (list []situation) {
	for _, change := range []func(p *prefs.Prefs){
		func(p *prefs.Prefs) { p.TemperatureCeiling = 70 },
		func(p *prefs.Prefs) { p.GPUTemperatureCeiling = 70 },
		func(p *prefs.Prefs) { p.NetworkWifiOnly = true },
		func(p *prefs.Prefs) { p.CPUUsageLimit = 0 },
		func(p *prefs.Prefs) { p.NiuCPUUsageLimit = 0 },
		func(p *prefs.Prefs) { p.MaxNCPUsPct = 0 },
		func(p *prefs.Prefs) { p.NiuMaxNCPUsPct = 0 },
		func(p *prefs.Prefs) { p.StartHour, p.EndHour = 8, 8 },
		func(p *prefs.Prefs) { p.NetStartHour, p.NetEndHour = 8, 8 },
		func(p *prefs.Prefs) { p.RunIfUserActive = false },
		func(p *prefs.Prefs) { p.SuspendIfNoRecentInput = 60 },
	} {
		p := prefs.Default()
		change(&p)
		for _, x := range p.Ineffective(prefs.Conditions{}) {
			text, cure, _ := strings.Cut(x.Text.String(), " You can: ")
			if cure != "" {
				cure = strings.ToUpper(cure[:1]) + cure[1:]
			}
			list = append(list, situation{x.Key, text, cure})
		}
	}
	return list
}

// codes returns the values of the constants of a type in the files of a package whose names end so.
func codes(t *testing.T, dir, end, typ string) (all []string) {
	t.Helper()
	constants(t, dir, end, func(spec *ast.ValueSpec, value string) {
		if declared, ok := spec.Type.(*ast.Ident); ok && declared.Name == typ {
			all = append(all, value)
		}
	})
	if len(all) == 0 {
		t.Fatalf("no constant %s in %s", typ, dir)
	}
	return all
}

// constants calls each for the string constants of the files of a package whose names end so.
func constants(t *testing.T, dir, end string, each func(spec *ast.ValueSpec, value string)) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), end) || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), dir+"/"+e.Name(), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				value, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				each(spec, value)
			}
			return true
		})
	}
}
