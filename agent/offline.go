package agent

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/starling-grid/starling/agent/control"
	"github.com/starling-grid/starling/agent/hostinfo"
	"github.com/starling-grid/starling/agent/settings"
	"github.com/starling-grid/starling/decide"
	"github.com/starling-grid/starling/prefs"
	"github.com/starling-grid/starling/state"
)

// offline is an agent that only looks: what the files hold of one that is not
// running. It returns state.ErrInUse when one is. The caller closes its db.
func offline(dataDir, version string) (*Agent, error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return nil, err
	}
	a := &Agent{
		cfg: Config{DataDir: dir, Version: version}, log: slog.New(slog.DiscardHandler),
		accounts: make(map[string]settings.Account),
	}
	accounts, _, faults := settings.LoadAccounts(dir)
	for _, acc := range accounts {
		a.accounts[acc.MasterURL] = acc
	}
	s, err := settings.Load(dir)
	a.settings, faults = s, errors.Join(faults, err)

	a.db, err = state.OpenReadOnly(filepath.Join(dir, stateFile))
	if errors.Is(err, os.ErrNotExist) {
		a.db = new(state.DB) // no agent has run here yet
	} else if err != nil {
		return nil, err
	}
	h, _ := a.db.Hosts.Get(state.Self)
	a.host = hostinfo.Probe(dir)
	a.host.Fpops = h.Fpops
	a.layers, err = readPrefs(dir, a.venue())
	a.faults = errors.Join(faults, err)
	a.mergePrefs()
	a.openLedger(time.Now())
	a.up = uptime{last: time.Now(), times: h.Times, saved: time.Now()}
	a.decide(time.Now())
	return a, nil
}

// Offline shows what the files of an agent that is not running hold. It returns
// state.ErrInUse when one is.
func Offline(dataDir, version string) (control.Status, error) {
	a, err := offline(dataDir, version)
	if err != nil {
		return control.Status{}, err
	}
	defer a.db.Close()
	s := a.status(nil)
	for u, acc := range a.accounts {
		if _, known := a.db.Projects.Get(u); !known {
			s.Projects = append(s.Projects, control.Project{
				MasterURL: u, Share: acc.ResourceShare, Work: "Contact is made when the agent runs.",
			})
		}
	}
	return s, nil
}

// OfflineDecision is what an agent that is not running would decide now.
func OfflineDecision(dataDir, version string) (decide.Record, error) {
	a, err := offline(dataDir, version)
	if err != nil {
		return decide.Record{}, err
	}
	defer a.db.Close()
	return a.last.Record, nil
}

// OfflinePrefs are the computing preferences of an agent that is not running.
func OfflinePrefs(dataDir, version string) (prefs.Effective, error) {
	a, err := offline(dataDir, version)
	if err != nil {
		return prefs.Effective{}, err
	}
	defer a.db.Close()
	return a.prefs, a.faults
}

// Check reads all files that people may edit and returns everything that is wrong
// with them.
func Check(dataDir string) error {
	_, errSettings := settings.Load(dataDir)
	_, _, errAccounts := settings.LoadAccounts(dataDir)
	_, errPrefs := readPrefs(dataDir, "")
	return errors.Join(errSettings, errAccounts, errPrefs)
}
