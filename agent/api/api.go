// Package api is what people and their tools ask of an agent, whichever way they come:
// the control socket, the page in a browser, BOINC's tools.
//
//	facts.go     what there is to see: package view makes something of it
//	history.go   what there was: tasks that have ended, and what the computer did
//	steer.go     what a person wants done
//	settings.go  what a person wants to be otherwise
//	offline.go   the same answers, from its files, when no agent runs
package api

import (
	"context"
	"sync"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/core"
	"github.com/starling-grid/starling/agent/files"
	"github.com/starling-grid/starling/agent/life"
	"github.com/starling-grid/starling/agent/power"
	"github.com/starling-grid/starling/agent/rules"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/agent/talk"
	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/executor"
)

// An API answers while the agent's loop runs. Its exported methods may be called from
// anywhere.
type API struct {
	parts Parts
	core  *core.Core
	talk  *talk.Talk
	life  *life.Life
	rules *rules.Rules

	editing sync.Mutex // what tools changed of the preferences
}

// Parts are the components behind an API.
type Parts struct {
	Core     *core.Core
	Life     *life.Life
	Files    *files.Files
	Talk     *talk.Talk
	Rules    *rules.Rules
	Ledger   *usage.Ledger
	Uptime   *usage.Uptime
	Disk     *usage.Disk
	Presence *usage.Presence
	Powers   *power.Powers

	Journal  *control.Journal
	Bounded  string                              // limits that the system enforces for each task
	Unusable []string                            // why installed programs for virtual machines and containers cannot be used
	NoImages executor.ImagesError                // why tasks cannot run in container images here
	NoCPUs   string                              // the fault of the setting cpus
	Pass     func(now time.Time) decide.Decision // makes one
	Adopt    func(settings.Settings) error       // applies the settings that may change while the agent runs
	Quit     func()                              // ends the agent
}

// New returns the API of the parts of an agent.
func New(p Parts) *API {
	return &API{parts: p, core: p.Core, talk: p.Talk, life: p.Life, rules: p.Rules}
}

// Reload reads the account and preference files again, as part of the loop, and returns their
// faults.
func (a *API) Reload(ctx context.Context) error {
	return a.core.Do(ctx, func() error {
		err := a.rules.ReadFiles()
		if err != nil {
			a.core.Log.Error("some settings are invalid; the previous values stay in effect", "err", err)
		}
		return err
	})
}
