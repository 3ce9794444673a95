package agent

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/control/dashboard"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// Dashboard is what the dashboard shows: the status, with the reasons of the last
// pass and the credit of the last days.
func (a *Agent) Dashboard(ctx context.Context) (v dashboard.View, err error) {
	err = a.do(ctx, func() error {
		s := a.last.Snapshot
		h, _ := a.db.Hosts.Get(state.Self)
		v = dashboard.View{
			Status: a.status(a.exec.Progress()), Compute: s.Compute, Network: s.Network,
			RunUntil: h.RunMode.Until, NetUntil: h.NetMode.Until,
			CPUs: s.CPUs, AllCPUs: s.AllCPUs, Memory: s.Memory, Temperature: a.conditions(time.Now()).Temperature,
			Plans: make(map[string]decide.ProjectPlan), Credit: make(map[string][]dashboard.Day),
		}
		v.Status.Running, v.Status.PID, v.Status.Since = true, os.Getpid(), a.since
		for u, p := range a.db.Projects.All() {
			v.Plans[u] = a.last.project(u)
			for _, c := range p.Statistics {
				v.Credit[u] = append(v.Credit[u], dashboard.Day{Day: c.Day, User: c.UserTotal, Host: c.HostTotal})
			}
		}
		return nil
	})
	return v, err
}

// PrefsOverride returns what tools changed of the preferences.
func (a *Agent) PrefsOverride(ctx context.Context) (l prefs.Layer, err error) {
	err = a.do(ctx, func() error {
		for _, layer := range a.layers {
			if filepath.Base(layer.Origin) == settings.PrefsOverrideFile {
				l = layer
			}
		}
		return nil
	})
	return l, err
}
