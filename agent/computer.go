package agent

import (
	"context"
	mrand "math/rand/v2"
	"time"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
	"github.com/starling-grid/starling/protocol/appipc"
)

// A Computer stands in for the one that the agent runs on, in simulations of many
// computers whose time is virtual and whose chance is a seed's.
type Computer struct {
	Info protocol.HostInfo // its name, processors, memory and so on; speeds are in the state
	// Applications returns what runs applications below a data directory and reports
	// events as an [executor.Executor] does.
	Applications func(dataDir string, report func(executor.Event)) Applications
	Rand         *mrand.Rand // the agent's alone from then on
	// Tick is how long the loop may sleep, how old may be what is known of the disk,
	// and how much of debts and uptime a kill may cost. The agent's own minute is for
	// laptops that sleep and clocks that jump; virtual ones cost less with hours.
	Tick time.Duration
}

// Applications run results' applications, as [executor.Executor] describes it.
type Applications interface {
	KillLeftovers(ctx context.Context) error
	Start(t executor.Task) error
	Suspend(result string) error
	Resume(result string) error
	Quit(result string) error
	Abort(result string, status int, reason string) error
	Reread(result string, d appipc.InitData) error
	TrickleDown(result string, slot int, at time.Time, text string) error
	UploadEnded(result, logical string, status int) error
	Allow(a executor.Allowance)
	Progress() map[string]executor.Progress
	Saved(result string, slot int) (executor.Checkpointed, bool)
	Clear(slot int) error
	Stop(ctx context.Context) error
}

// applications opens what runs applications.
func (a *Agent) applications() (Applications, error) {
	report := func(e executor.Event) { a.post(func() { a.applyRun(e) }) }
	if c := a.cfg.Computer; c != nil {
		return c.Applications(a.cfg.DataDir, report), nil
	}
	e, err := executor.New(a.cfg.DataDir, a.cfg.Log, report)
	if err != nil {
		return nil, err
	}
	e.PassEnvironment(a.settings.PassEnvironment)
	if a.cfg.Confine {
		a.group(e)
		if a.settings.Sandbox {
			err = e.Confine(executor.Walls{Network: a.settings.SandboxNetwork, Read: a.settings.SandboxRead, Write: a.settings.SandboxWrite})
		}
	}
	return e, err
}

// group has applications run in control groups of their own, where that can be.
func (a *Agent) group(e *executor.Executor) {
	bounded, err := e.UseControlGroups()
	if err != nil {
		a.log.Warn("applications have no control groups: their bounds are kept by looking", "error", err)
	} else if bounded != "" {
		a.log.Info("each application has a control group", "bounded", bounded)
	}
	a.bounded = bounded
}

// probe describes the computer, but for its speeds.
func (c Config) probe() protocol.HostInfo {
	if c.Computer != nil {
		return c.Computer.Info
	}
	return hostinfo.Probe(c.DataDir)
}

// rand returns the source of all that is left to chance.
func (c Config) rand() *mrand.Rand {
	if c.Computer != nil {
		return c.Computer.Rand
	}
	return mrand.New(mrand.NewPCG(mrand.Uint64(), mrand.Uint64()))
}

// tick is the longest the loop sleeps: laptops do, and clocks jump. What is measured
// or saved now and then need not be so more often.
func (c Config) tick() time.Duration {
	if c.Computer != nil {
		return c.Computer.Tick
	}
	return time.Minute
}
