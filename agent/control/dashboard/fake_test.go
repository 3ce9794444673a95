package dashboard

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/view"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/testbrowser"
	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/jobsched"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/reason"
)

// wcgName is a project's name with markup. The pictures in the handbook show the real name.
var wcgName = "World <Community> Grid"

func init() {
	if os.Getenv(testbrowser.Screenshots) != "" {
		wcgName = "World Community Grid"
	}
}

// fake is an agent with a queue that tests may change.
type fake struct {
	agent
	mu    sync.Mutex
	page  view.Page
	asked []string
	seqno int
	ended []control.HistoryTask
	spans []control.Span
	ready chan struct{} // if there is one, the agent answers once it is closed
	// config, if there is one, answers for the projects.
	config func(u string) (*protocol.ProjectConfig, error)
}

var _ Agent = new(fake)

// change lets f alter the page's data.
func (a *fake) change(f func(*view.Page)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.page)
}

func (a *fake) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, fmt.Sprintf(format, args...))
}

func (a *fake) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) == 0 {
		return ""
	}
	return a.asked[len(a.asked)-1]
}

// wasAsked checks the last request that the agent got.
func (a *fake) wasAsked(t *testing.T, want string) {
	t.Helper()
	if got := a.last(); got != want {
		t.Errorf("the agent was asked for %q, want %q", got, want)
	}
}

func (a *fake) Dashboard(ctx context.Context) (view.Page, error) {
	if a.ready != nil {
		select {
		case <-a.ready:
		case <-ctx.Done():
			return view.Page{}, ctx.Err()
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	v := a.page
	v.Status.Tasks = slices.Clone(v.Status.Tasks)
	v.Status.Projects = slices.Clone(v.Status.Projects)
	v.Status.Problems = view.Problems(v.Status, time.Now(), true, words.English)
	return v, nil
}

func (a *fake) Task(_ context.Context, project, name string) (view.Task, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range a.page.Status.Tasks {
		if t.Project == project && t.Name == name {
			return view.Task{
				Task: t, Workunit: strings.TrimSuffix(name, "_0"), Version: "1.04 (avx2) for x86_64-pc-linux-gnu",
				Reason: jobsched.Decision{Explanation: reason.Explanation{Code: reason.NoCPU, Text: words.Plain(t.Why)}}, CPUs: 1, Memory: 412 << 20, MemoryBound: 2 << 30, Disk: 18 << 20, DiskBound: 1 << 30, PeakMemory: 530 << 20,
				Checkpoint: max(0, t.Elapsed-t.Unsaved), Received: started.Add(-50 * time.Hour), Started: started.Add(-4 * time.Hour),
				Files:  []view.TaskFile{{Name: name + "_in", Size: 4 << 20, Here: true}, {Name: name + "_0", Output: true}},
				Stderr: "12:00:01 reading the input\n12:00:04 <b>template</b> 17 of 4000\n",
			}, nil
		}
	}
	return view.Task{}, fmt.Errorf("%w: %s", control.ErrNoTask, name)
}

func (a *fake) Log(_ context.Context, after int) (l control.Log, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n := after + 1; n <= a.seqno; n++ {
		m := control.Message{Seqno: n, Time: started.Add(time.Duration(n) * time.Second), Level: "INFO", Text: fmt.Sprintf("result started result=task_%d slot=%d", n, n%8)}
		if n%10 == 0 {
			m.Level, m.Text, m.Project = "WARN", fmt.Sprintf("upload failed file=task_%d_0 err=\"connection refused\"", n), einstein
		}
		l.Messages = append(l.Messages, m)
	}
	return l, nil
}

func (a *fake) SteerTasks(_ context.Context, tasks []control.TaskRef, what control.TaskAction) (n int, err error) {
	a.note("%s %d", what, len(tasks))
	a.change(func(p *view.Page) {
		for i := range p.Status.Tasks {
			t := &p.Status.Tasks[i]
			if !slices.Contains(tasks, control.TaskRef{Project: t.Project, Task: t.Name}) {
				continue
			}
			n++
			t.AbortAt, t.Suspended = time.Time{}, what == control.SuspendTask
			if what == control.AbortSoon {
				t.AbortAt = started.Add(5 * time.Minute)
			}
			t.Running = t.Running && what == control.ResumeTask
		}
	})
	return n, nil
}

func (a *fake) SteerProject(_ context.Context, u string, what control.ProjectAction) error {
	a.note("%s %s", what, u)
	return nil
}

func (a *fake) Detach(_ context.Context, u string) error {
	a.note("detach %s", u)
	return nil
}

func (a *fake) Drain(_ context.Context, scope decide.DrainScope) error {
	a.note("drain %s", scope)
	return nil
}

func (a *fake) Quit() { a.note("quit") }

func (a *fake) SetMode(_ context.Context, what control.Activity, kind prefs.ModeKind, d time.Duration) error {
	a.note("mode %q %s %v", what, control.ModeName(kind), d)
	a.change(func(p *view.Page) {
		switch what {
		case control.Computing:
			p.Status.RunMode = control.ModeName(kind)
		case control.Network:
			p.Status.NetMode = control.ModeName(kind)
		case control.GPUs:
			p.GPUMode = control.ModeName(kind)
		}
	})
	return nil
}

func (a *fake) ProjectConfig(_ context.Context, u string) (*protocol.ProjectConfig, error) {
	if a.config != nil {
		return a.config(u)
	}
	return suitable(u), nil
}

// suitable is the configuration of a project with applications for this computer.
func suitable(u string) *protocol.ProjectConfig {
	return &protocol.ProjectConfig{
		Name: "PrimeGrid", MasterURL: u, MinPasswordLength: 6, TermsOfUse: "Be kind.",
		Platforms: []protocol.ConfigPlatform{{Name: "x86_64-pc-linux-gnu"}, {Name: "windows_x86_64", PlanClasses: []string{"cuda"}}},
	}
}

func (a *fake) LookupAccount(_ context.Context, u, email, _ string) (protocol.Authenticator, error) {
	a.note("lookup %s", email)
	return "", fmt.Errorf("account %s: %w", u, &protocol.AccountError{Num: protocol.ErrNumNotFound})
}

func (a *fake) CreateAccount(_ context.Context, _, email, _, name string, consent bool) (protocol.Authenticator, error) {
	a.note("create %s %s %v", email, name, consent)
	return "newkey", nil
}

func (a *fake) JoinManager(_ context.Context, u, login, hash string) error {
	a.note("join %s %s %v", u, login, hash == protocol.PasswordHash("secret7", login))
	if login == "nobody" {
		return words.Refuse(reason.Reason{Code: reason.ManagerPassword}.Text(time.Now()))
	}
	a.change(func(p *view.Page) { p.Status.Manager = &control.Manager{Name: "BAM!", URL: u} })
	return nil
}

func (a *fake) SyncManager(context.Context) error {
	a.note("sync")
	return nil
}

func (a *fake) LeaveManager(_ context.Context, detach bool) error {
	a.note("leave %v", detach)
	a.change(func(p *view.Page) { p.Status.Manager = nil })
	return nil
}

func (a *fake) Attach(_ context.Context, u string, key protocol.Authenticator) error {
	a.note("attach %s %s", u, key)
	return nil
}

var started = time.Now().Truncate(time.Second).Add(-30 * time.Minute)

const (
	einstein = "https://einstein.example/"
	lhc      = "https://lhc.example/"
	wcg      = "https://wcg.example/"
)

// busy returns a computer that is attached to three projects and has so many tasks. Eight of them
// run. One or two have malicious names.
func busy(tasks int) view.Page {
	v := view.Page{
		Status: control.Status{
			Running: true, Version: "0.9", PID: 1, Since: started, DataDir: "/var/lib/starling", CPUs: 8, RunMode: "auto", NetMode: "auto",
			Times:    control.Times{On: 0.92, Active: 0.8, Connected: 0.99},
			Achieved: &control.Achieved{Days: 7, Finished: 212, Failed: 1, CPUTime: 9e5},
		},
		GPUMode: "auto", CPUs: 8, AllCPUs: 8, Memory: 24 << 30, Temperature: 61, Ceiling: 85, Heat: []view.Heat{{Start: started.Add(-15 * time.Minute), Celsius: 48}, {Start: started.Add(-10 * time.Minute), Celsius: 72.5}, {Start: started.Add(-5 * time.Minute), Celsius: 61}}, GPUHeat: []view.Heat{{Start: started.Add(-10 * time.Minute), Celsius: 70}, {Start: started.Add(-5 * time.Minute), Celsius: 74}}, Battery: "no",
		Host:      view.Host{Name: "workbench", Model: "AMD Ryzen 7 5800X 8-Core Processor", System: "Linux 6.12", Memory: 32 << 30, Fpops: 5.3e9},
		Disk:      view.DiskUse{Total: 500 << 30, Free: 210 << 30, Used: 94 << 30 / 10, Allowed: 100 << 30, Projects: map[string]int64{einstein: 51 << 30 / 10, lhc: 32 << 30 / 10, wcg: 4 << 30 / 10}},
		Platforms: []string{"x86_64-pc-linux-gnu"},
		Plans:     make(map[string]decide.ProjectPlan), Credit: make(map[string][]view.Day),
	}
	for i, p := range []control.Project{
		{MasterURL: einstein, Name: "Einstein@Home", UserName: "kim", HostID: 4711, Share: 100, Debt: 5400, UserCredit: 183204, UserRAC: 2210, HostCredit: 90211, HostRAC: 1402, CPUTime: 9.2e5, Notices: []string{"The next run starts on Monday."}, GUIURLs: []control.GUIURL{
			{Name: "Your account", Description: "View your account information", URL: "https://einstein.example/home.php?a=1&b=2"}, {Name: "Forum <b>", URL: "https://einstein.example/forum"}, {Name: "Bad", URL: "javascript:alert(1)"},
		}, Storage: control.Storage{
			Files: 2, Bytes: 3 << 30, Limit: 4 << 30, Problems: []string{"h1_0500: no room"},
			Removed: []control.RemovedFile{{Name: "h1_0300", Bytes: 2 << 30, At: started, Code: "expired", Why: "its time is over"}},
		}},
		{MasterURL: lhc, Name: "LHC@home", UserName: "kim", HostID: 812, Share: 50, Debt: -7200, UserCredit: 40112, UserRAC: 610, HostCredit: 40112, HostRAC: 610, CPUTime: 6.1e5},
		{MasterURL: wcg, Name: wcgName, UserName: "kim", HostID: 99, Share: 50, Debt: 1800, UserCredit: 9020, UserRAC: 120, HostCredit: 9020, HostRAC: 120, CPUTime: 2.0e5},
	} {
		p.Initialized, p.LastContact, p.Work, p.WorkCode = true, started, "This project has enough work for its share.", "has_share"
		v.Status.Projects = append(v.Status.Projects, p)
		for d := range 21 {
			f := float64(d)
			wave := 1 + 0.4*float64((d*7+i*3)%5)/5
			v.Credit[p.MasterURL] = append(v.Credit[p.MasterURL], view.Day{
				Day:  time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, d-20),
				User: p.UserCredit * (0.8 + f/100), Host: p.HostCredit * (0.8 + (f+wave)/110), UserRAC: p.UserRAC * (0.6 + f/50) * wave, HostRAC: p.HostRAC,
			})
		}
	}
	urls, apps, titles := []string{einstein, lhc, wcg}, []string{"einstein_O4", "sixtrack", "mcm1"}, []string{"All-sky pulsar search", "SixTrack", "Mapping Cancer Markers"}
	for i := range tasks {
		k := i % 3
		t := control.Task{
			Name: fmt.Sprintf("%s_%d_0", []string{"h1_0421.50_O4", "w_b3_lhc", "MCM1_0"}[k], i), Project: urls[k], App: apps[k], AppTitle: titles[k], State: "downloaded", Slot: -1,
			Remaining: float64(7200 + i%50*600), Deadline: started.Add(time.Duration(48+i%400) * time.Hour), Why: "Waiting for its turn: all 8 CPUs are busy.",
		}
		switch {
		case i < 8:
			t.Running, t.Slot, t.PID, t.Why = true, i, 1000+i, "Running: the project is owed CPU time."
			t.Fraction, t.Elapsed, t.CPUTime, t.Unsaved = 0.11*float64(i+1), 900*float64(i+1), 880*float64(i+1), 40
		case i%97 == 0:
			t.State, t.Why = "downloading", "Waiting for its input files."
		case i%89 == 0:
			t.State, t.Fraction, t.Elapsed, t.Ready, t.Why = "uploaded", 1, 7100, true, "Finished. It will be reported at the next contact."
		case i%41 == 0:
			t.Elapsed, t.Fraction = 1200, 0.2
		}
		v.Status.Tasks = append(v.Status.Tasks, t)
		v.Status.Unsaved += t.Unsaved
		for j := range v.Status.Projects {
			if v.Status.Projects[j].MasterURL == t.Project {
				v.Status.Projects[j].Tasks++
			}
		}
	}
	return v
}
