package agent

import (
	mrand "math/rand/v2"

	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/executor"
	"github.com/starling-grid/starling/protocol"
)

// A Computer replaces the one that the agent runs on, in simulations of many computers with virtual
// time and seeded randomness.
type Computer struct {
	Info protocol.HostInfo // its name, processors, memory and so on (speeds are in the state)
	// Applications returns what runs applications below a data directory and reports
	// events as an [executor.Executor] does.
	Applications func(dataDir string, report func(executor.Event)) life.Applications
	Rand         *mrand.Rand // the agent's alone from then on
}

// applications opens what runs applications.
func (a *Agent) applications() (life.Applications, error) {
	report := func(e executor.Event) { a.core.Post(life.Ran{Of: e}) }
	if c := a.cfg.Computer; c != nil {
		return c.Applications(a.core.Dir, report), nil
	}
	e, err := executor.New(a.core.Dir, a.core.Log, report)
	if err != nil {
		return nil, err
	}
	e.PassEnvironment(a.core.Settings.PassEnvironment)
	if a.cfg.Confine {
		a.group(e)
		if a.core.Settings.Sandbox {
			err = e.Confine(executor.Sandbox{Network: a.core.Settings.SandboxNetwork, Read: a.core.Settings.SandboxRead, Write: a.core.Settings.SandboxWrite})
		}
		if err == nil {
			a.knowImages(e)
		}
	}
	return e, err
}

// group runs each application in a separate control group, if possible.
func (a *Agent) group(e *executor.Executor) {
	bounded, err := e.UseControlGroups()
	if err != nil {
		a.core.Log.Warn("control groups unavailable; the agent polls to enforce limits", "err", err)
	} else if bounded != "" {
		a.core.Log.Info("control groups in use: one per application", "bounded", bounded)
	}
	a.bounded = bounded
}

// probe describes the computer, except for its speeds.
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
