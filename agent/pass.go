package agent

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/usage"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/internal/logflag"
	"github.com/starling-grid/starling/state"
)

// decide makes a pass: the policies read a snapshot and return a plan. Debts are updated at once.
// The components act on the rest.
func (a *Agent) decide(now time.Time) decide.Decision {
	a.life.Account(now)
	d := decide.Decide(a.Facts(now).Snapshot())
	s := d.Snapshot
	a.uptime.Count(now, !s.Compute.Denied(), !s.Network.Denied())
	a.timeline.Count(now, doing(d))
	debts := make(map[string]float64, len(s.Projects))
	for i, p := range s.Projects {
		debts[p.URL] = d.Plan.Projects[i].Debt
	}
	a.ledger.Settle(now, debts)
	a.core.Log.Log(a.core.Ctx, logflag.Detail, "debts", logflag.Key, logflag.Priority, "cpu_seconds", a.ledger.Of)
	a.logChanges(a.core.Last, d)
	a.record(d)
	a.core.Last = d
	return d
}

// doing returns the computer's activity according to a decision.
func doing(d decide.Decision) usage.Doing {
	if is := d.Snapshot.Compute; is.Denied() {
		return usage.Doing{Activity: state.Suspended, Code: string(is.Code), Why: is.Why.String()}
	}
	for _, r := range d.Plan.Results {
		if r.Run() {
			return usage.Doing{Activity: state.Computing}
		}
	}
	return usage.Doing{Activity: state.Waiting}
}

// logChanges logs the differences from the last decision.
func (a *Agent) logChanges(before, d decide.Decision) {
	a.suspended.log(a.core.Log, before.Snapshot, d.Snapshot)
	if d.Drained() && (!before.Drained() || before.Snapshot.Drain != d.Snapshot.Drain) {
		a.core.Log.Info("drained", "scope", d.Snapshot.Drain.Scope)
	}
	first := before.Snapshot.Now.IsZero()
	if now := d.Snapshot.Compute; first || now.Code != before.Snapshot.Compute.Code {
		a.core.Log.Debug("computing", logflag.Key, logflag.Suspend, "allowed", !now.Denied(), "why", now.Why)
	}
	if now := d.Snapshot.Network; first || now.Code != before.Snapshot.Network.Code {
		a.core.Log.Debug("network", logflag.Key, logflag.NetworkStatus, "allowed", !now.Denied(), "why", now.Why)
	}
	for i, p := range d.Snapshot.Projects {
		if f := d.Plan.Projects[i].Fetch; before.Project(p.URL).Fetch.Code != f.Code {
			a.core.Log.Debug("work fetch", logflag.Key, logflag.WorkFetch, "project", p.URL, "decision", f.Code, "why", f.Text)
		}
	}
	if !a.core.Log.Enabled(a.core.Ctx, slog.LevelDebug) {
		return
	}
	for i, seen := range d.Snapshot.Results {
		r := d.Plan.Results[i]
		if _, was, _ := before.Result(d.Snapshot.URL(seen), seen.ID); was.Code != r.Code {
			a.core.Log.Debug("scheduling", logflag.Key, logflag.CPUSchedDebug, "result", seen.ID, "decision", r.Code, "why", r.Text)
		}
	}
}

// decisionsFile holds the passes, one a line, when the log flag sched_decision is
// set. starling simulate --replay reads it.
const (
	decisionsFile    = "decisions.jsonl"
	maxDecisionsFile = 64 << 20 // bytes, then the file before is replaced
)

// record appends a pass to the journal of decisions.
func (a *Agent) record(d decide.Decision) {
	if !a.core.Settings.LogFlags[logflag.SchedDecision] {
		return
	}
	path := filepath.Join(a.core.Dir, decisionsFile)
	if st, err := os.Stat(path); err == nil && st.Size() > maxDecisionsFile {
		_ = os.Rename(path, path+".1") // else it grows on
	}
	line, err := json.Marshal(d.Record)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(append(line, '\n'))
			_ = f.Close()
		}
	}
	if err != nil {
		a.core.Log.Warn("cannot record the decision", "err", err)
	}
}
