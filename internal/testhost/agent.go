package testhost

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/starling-grid/starling/agent/control"
)

// An Agent is a starling agent with its own data directory.
type Agent struct {
	*control.Client
	Bin Bin
	Dir string
	Env []string // added to this process's variables

	running *Process
}

// NewAgent makes a data directory. prefs and settings are lines added to the preferences and
// settings of tests. Projects learn that all agents share one computer. Applications run at normal
// priority, because they would starve where other tests run.
func NewAgent(bin Bin, dir, prefs, settings string) (*Agent, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		"prefs.toml":    "suspend_cpu_usage = 0\nrun_on_batteries = true\nrun_gpu_if_user_active = true\n" + prefs, // tasks also run on a busy machine with terminals
		"starling.toml": "allow_multiple_clients = true\nno_priority_change = true\n" + noTools(settings) + settings,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return &Agent{Client: control.NewClient(dir), Bin: bin, Dir: dir}, nil
}

// Run runs a starling command on this agent's data and returns its standard output.
func (a *Agent) Run(ctx context.Context, args ...string) (string, error) {
	return a.Bin.Run(ctx, nil, Starling, append([]string{"--data", a.Dir}, args...)...)
}

// Start starts the agent with args appended to "starling run".
func (a *Agent) Start(args ...string) error {
	var err error
	a.running, err = StartWith(a.Env, a.Log(), a.Bin.Path(Starling), append([]string{"--data", a.Dir, "run"}, args...)...)
	return err
}

// Log is the agent's log file.
func (a *Agent) Log() string { return a.Dir + ".log" }

// Process is the running agent.
func (a *Agent) Process() *Process { return a.running }

// Stop stops the agent and its applications, if it runs.
func (a *Agent) Stop() error {
	if a.running == nil {
		return nil
	}
	return a.running.Stop(Grace)
}

// Reach waits until an agent that was started answers.
func (a *Agent) Reach(ctx context.Context) error {
	for a.running != nil {
		if _, err := a.Status(ctx); err == nil {
			return nil
		}
		select {
		case <-a.running.Done():
			log, _ := os.ReadFile(a.Log())
			return fmt.Errorf("the agent ended at once: %w\n%s", a.running.err, log)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// Attach attaches to a project by its account's key, as a user would, once a just
// started agent answers.
func (a *Agent) Attach(ctx context.Context, p *Project) error {
	if err := a.Reach(ctx); err != nil {
		return err
	}
	_, err := a.Run(ctx, "attach", p.URL, "--key", p.Key)
	return err
}

// noTools keeps an agent from taking the ports of BOINC's tools and the
// dashboard, and from looking for GPUs, unless its settings name them.
func noTools(settings string) (text string) {
	for _, key := range []string{"gui_rpc_port", "dashboard_port"} {
		if !strings.Contains(settings, key) {
			text += key + " = 0\n"
		}
	}
	if !strings.Contains(settings, "no_gpus") {
		text += "no_gpus = true\n"
	}
	return text
}
